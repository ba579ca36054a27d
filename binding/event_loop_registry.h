// All event loops of this process. A thread has one for each instance of this package. The registry wakes all of them
// when a second thread gets a loop, and when only one thread is left with loops, because a thread that is alone must
// not wait for others.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "regions.h"

namespace boxoffice::binding {

class EventLoop;
class Shares;

class EventLoopRegistry {
 public:
  /// Adds `loop`, which may be called from now on.
  void join(EventLoop& loop);
  /// Removes `loop`, which is ending and must not be called any more.
  void leave(EventLoop& loop) noexcept;
  /// Wakes every loop, after an event that all of them check for.
  void wakeAll() noexcept;
  /// Takes up to `most` units of the lock at `place` off the counts of all loops but that of `own`.
  void takeOff(const Shares& own, const Regions::Place& place, std::int64_t most) const noexcept;
  /// Whether other threads than the caller's have loops.
  bool hasOtherThreads() const noexcept;

 private:
  // The caller holds the mutex.
  bool areOfOneThread() const noexcept;
  void wakeAllHere() noexcept;

  mutable std::mutex mutex_;
  std::vector<EventLoop*> all_;
};

EventLoopRegistry& eventLoopRegistry();

}  // namespace boxoffice::binding
