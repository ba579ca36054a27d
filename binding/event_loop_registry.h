// All event loops of this process: each is told when another begins or ends, since one that is alone waits
// for nothing that could still come.
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
  /// Something has happened that each of them looks at.
  void wakeAll() noexcept;
  /// Are there others than the one that asks?
  bool hasOthers() const noexcept;

 private:
  mutable std::mutex mutex_;
  std::vector<EventLoop*> all_;
};

EventLoopRegistry& eventLoopRegistry();

}  // namespace boxoffice::binding
