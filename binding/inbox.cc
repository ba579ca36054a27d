#include "inbox.h"

#include "thread_wakeup.h"

namespace boxoffice::binding {

void Inbox::send() noexcept {
  const std::lock_guard guard(mutex_);
  ++wakeups_;
  isClosed_ ? posted_.signal() : wakeup_.wake(loop_);
}

void Inbox::wakeLoop() noexcept {
  const std::lock_guard guard(mutex_);
  if (!isClosed_) wakeup_.wake(loop_);
}

bool Inbox::isQuiet() noexcept {
  const std::lock_guard guard(mutex_);
  return wakeups_ == batches_;
}

void Inbox::close() noexcept {
  const std::lock_guard guard(mutex_);
  isClosed_ = true;
}

}  // namespace boxoffice::binding
