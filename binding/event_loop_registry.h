// All event loops of this process. Each is called when another begins or ends, because a loop that
// is alone must not wait for other threads.
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
  /// Whether there are other loops than the caller's.
  bool hasOthers() const noexcept;

 private:
  mutable std::mutex mutex_;
  std::vector<EventLoop*> all_;
};

EventLoopRegistry& eventLoopRegistry();

}  // namespace boxoffice::binding
