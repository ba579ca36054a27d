#include "neighbours.h"

#include "event_loop.h"
#include "platform/process_wide.h"

namespace boxoffice::binding {

void Neighbours::join(EventLoop& loop) {
  const std::lock_guard guard(mutex_);
  all_.push_back(&loop);
  if (all_.size() == 2) all_.front()->lookUp();
}

void Neighbours::leave(EventLoop& loop) noexcept {
  const std::lock_guard guard(mutex_);
  std::erase(all_, &loop);
  if (all_.size() == 1) all_.front()->lookUp();
}

void Neighbours::lookUp() noexcept {
  const std::lock_guard guard(mutex_);
  for (EventLoop* const loop : all_) loop->lookUp();
}

bool Neighbours::any() const noexcept {
  const std::lock_guard guard(mutex_);
  return all_.size() > 1;
}

Neighbours& neighbours() { return processWide<Neighbours>(); }

}  // namespace boxoffice::binding
