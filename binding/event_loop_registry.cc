#include "event_loop_registry.h"

#include <algorithm>

#include "event_loop.h"
#include "platform/process_wide.h"

namespace boxoffice::binding {

void EventLoopRegistry::join(EventLoop& loop) {
  const std::lock_guard guard(mutex_);
  const bool wereOfOneThread = areOfOneThread();
  all_.push_back(&loop);
  if (wereOfOneThread && !areOfOneThread()) wakeAllHere();
}

void EventLoopRegistry::leave(EventLoop& loop) noexcept {
  const std::lock_guard guard(mutex_);
  const bool wereOfOneThread = areOfOneThread();
  std::erase(all_, &loop);
  if (!wereOfOneThread && areOfOneThread()) wakeAllHere();
}

void EventLoopRegistry::wakeAll() noexcept {
  const std::lock_guard guard(mutex_);
  wakeAllHere();
}

void EventLoopRegistry::takeOff(const Shares& own, const Regions::Place& place,
                                std::int64_t most) const noexcept {
  const std::lock_guard guard(mutex_);
  for (EventLoop* const loop : all_) {
    if (most == 0) return;
    if (&loop->shares() != &own) most -= loop->shares().takeOff(place, most);
  }
}

bool EventLoopRegistry::hasOtherThreads() const noexcept {
  const std::lock_guard guard(mutex_);
  return !areOfOneThread();
}

bool EventLoopRegistry::areOfOneThread() const noexcept {
  const auto isOther = [this](const EventLoop* loop) {
    return loop->thread() != all_.front()->thread();
  };
  return std::none_of(all_.begin(), all_.end(), isOther);
}

void EventLoopRegistry::wakeAllHere() noexcept {
  for (EventLoop* const loop : all_) loop->wakeLater();
}

EventLoopRegistry& eventLoopRegistry() { return processWide<EventLoopRegistry>(); }

}  // namespace boxoffice::binding
