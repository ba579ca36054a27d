// The inbox of an event loop: other threads post the waiters that they wake. The first post of a burst wakes the loop.
#pragma once

#include <mutex>

#include "thread_wakeup.h"
#include "waiting/lightweight_semaphore.h"
#include "waiting/mailbox.h"

namespace boxoffice::binding {

class EventLoop;

class Inbox final : private Wakeup {
 public:
  Inbox(EventLoop& loop, ThreadWakeup& wakeup) : loop_(loop), wakeup_(wakeup) {}

  /// Called from any thread.
  void post(Waiter& w, Wake how) noexcept { mailbox_.wake(w, how); }
  /// Called from any thread: wakes the loop even without a post.
  void wakeLoop() noexcept {
    const std::lock_guard guard(mutex_);
    if (!isClosed_) wakeup_.wake(loop_);
  }

  /// Hands each posted waiter to `take`.
  template <class Take>
  void collect(Take&& take) {
    if (mailbox_.collect([&take](Waiter& w, Wake) { take(w); })) ++batches_;
  }
  /// Whether no posting thread still uses this object, so that it may be destroyed.
  bool isQuiet() noexcept {
    const std::lock_guard guard(mutex_);
    return wakeups_ == batches_;
  }

  /// Call this when JavaScript has ended. After it, posts wake await() instead of the loop.
  void close() noexcept {
    const std::lock_guard guard(mutex_);
    isClosed_ = true;
  }
  void await() noexcept { posted_.wait(); }

 private:
  void send() noexcept override {
    const std::lock_guard guard(mutex_);
    ++wakeups_;
    isClosed_ ? posted_.signal() : wakeup_.wake(loop_);
  }

  EventLoop& loop_;
  ThreadWakeup& wakeup_;
  Mailbox mailbox_{*this};
  std::size_t batches_ = 0;  // number of collected bursts, each with its own wake-up
  std::mutex mutex_;
  std::size_t wakeups_ = 0;
  bool isClosed_ = false;
  LightweightSemaphore posted_;  // after close(), signalled instead of the wake-up
};

}  // namespace boxoffice::binding
