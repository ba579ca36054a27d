// All event loops of this process. A thread has one for each instance of this package. All are called when there begin
// or cease to be loops of several threads, because the loops of a thread that is alone must not wait for others.
#pragma once

#include <mutex>
#include <vector>

namespace boxoffice::binding {

class EventLoop;

class EventLoopRegistry {
 public:
  /// `loop` has begun, and can be called.
  void join(EventLoop& loop);
  /// `loop` ends, and is not called from here on.
  void leave(EventLoop& loop) noexcept;
  /// An event that every loop checks for has occurred.
  void wakeAll() noexcept;
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
