// All event loops of this process. A thread has one for each instance of this package. All of them are woken when
// a second thread gets a loop, and when only one thread is left with loops: a thread that is alone must not wait
// for others.
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
  /// `loop` has begun, and can be called.
  void join(EventLoop& loop);
  /// `loop` ends, and is not called from here on.
  void leave(EventLoop& loop) noexcept;
  /// Wakes every loop, after an event that all of them check for.
  void wakeAll() noexcept;
  /// Takes up to `most` units of the lock at `place` off the counts of all loops but that of `own`.
  void takeOff(const Shares& own, const Regions::Place& place, std::int64_t most) const noexcept;
  /// Whether there are loops of other threads than the caller's, which has one.
  bool hasOtherThreads() const noexcept;

 private:
  // With the mutex held.
  bool areOfOneThread() const noexcept;
  void wakeAllHere() noexcept;

  mutable std::mutex mutex_;
  std::vector<EventLoop*> all_;
};

EventLoopRegistry& eventLoopRegistry();

}  // namespace boxoffice::binding
