#include "event_loop_registry.h"

#include "event_loop.h"
#include "platform/process_wide.h"

namespace boxoffice::binding {

void EventLoopRegistry::join(EventLoop& loop) {
  const std::lock_guard guard(mutex_);
  all_.push_back(&loop);
  if (all_.size() == 2) all_.front()->wakeLater();
}

void EventLoopRegistry::leave(EventLoop& loop) noexcept {
  const std::lock_guard guard(mutex_);
  std::erase(all_, &loop);
  if (all_.size() == 1) all_.front()->wakeLater();
}

void EventLoopRegistry::wakeAll() noexcept {
  const std::lock_guard guard(mutex_);
  for (EventLoop* const loop : all_) loop->wakeLater();
}

bool EventLoopRegistry::hasOthers() const noexcept {
  const std::lock_guard guard(mutex_);
  return all_.size() > 1;
}

EventLoopRegistry& eventLoopRegistry() { return processWide<EventLoopRegistry>(); }

}  // namespace boxoffice::binding
