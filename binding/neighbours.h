// All event loops of this process: each is told when another begins or ends, since one that is alone waits
// for nothing that could still come.
#pragma once

#include <mutex>
#include <vector>

namespace boxoffice::binding {

class EventLoop;

class Neighbours {
 public:
  /// `loop` has begun, and can be called.
  void join(EventLoop& loop);
  /// `loop` ends. From here on nobody calls it any more.
  void leave(EventLoop& loop) noexcept;
  /// Something has happened that each of them looks at.
  void lookUp() noexcept;
  /// Are there others than the one that asks?
  bool any() const noexcept;

 private:
  mutable std::mutex mutex_;
  std::vector<EventLoop*> all_;
};

Neighbours& neighbours();

}  // namespace boxoffice::binding
