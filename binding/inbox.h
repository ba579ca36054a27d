// Where other threads post the waiters of an event loop that they have woken. The first post of a burst wakes the thread.
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

  /// From any thread.
  void post(Waiter& w, Wake how) noexcept { mailbox_.wake(w, how); }
  /// From any thread: wakes the loop though nothing may have been posted.
  void wakeLoop() noexcept {
    const std::lock_guard guard(mutex_);
    if (!isClosed_) wakeup_.wake(loop_);
  }

  /// Hands each posted waiter to `take`.
  template <class Take>
  void collect(Take&& take) {
    if (mailbox_.collect([&take](Waiter& w, Wake) { take(w); })) ++batches_;
  }
  /// Whether each thread that has posted is through with this object, which may be destroyed from then on.
  bool isQuiet() noexcept {
    const std::lock_guard guard(mutex_);
    return wakeups_ == batches_;
  }

  /// JavaScript is gone: posts end await() from now on, and wake no loop.
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
  std::size_t batches_ = 0;  // collected, each with a wake-up of its own
  std::mutex mutex_;
  std::size_t wakeups_ = 0;
  bool isClosed_ = false;
  LightweightSemaphore posted_;  // signalled in place of the wake-up then
};

}  // namespace boxoffice::binding
