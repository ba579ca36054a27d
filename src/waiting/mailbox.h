// Holds the wakes of an event loop's waiters until the loop's next turn: any thread posts, the loop's own
// thread collects.
//
//   last_ ─▶ w3 ─▶ w2 ─▶ w1 ─▶ null        a stack, one compare-and-swap to post
//
// Only a post into an empty mailbox wakes the loop, so a burst of admissions is one wake-up. collect
// empties the mailbox in one exchange, so the next post wakes the loop again; no wake can fall between the
// two. post's release pairs with collect's acquire: the loop sees all that the waker did.
#pragma once

#include <utility>

#include "waiting/platform.h"
#include "waiting/waiter.h"

namespace boxoffice {

/// Tells an event loop to collect. Called from any thread, once per burst.
class Wakeup {
 public:
  virtual void send() noexcept = 0;

 protected:
  ~Wakeup() = default;
};

template <class P>
class BasicMailbox final : public Parker {
 public:
  constexpr explicit BasicMailbox(Wakeup& wakeup) : wakeup_(wakeup) {}
  BasicMailbox(const BasicMailbox&) = delete;
  BasicMailbox& operator=(const BasicMailbox&) = delete;

  /// Posts the waiter by a separate link, because an invited waiter is still linked into its queue.
  void wake(Waiter& waiter, Wake how) noexcept override {
    Wakeup& wakeup = wakeup_;  // once posted, the loop may collect and destroy this mailbox
    waiter.how = how;
    Waiter* last = last_.load(std::memory_order_relaxed);
    do {
      waiter.posted = last;
    } while (!last_.compare_exchange_weak(last, &waiter, std::memory_order_release,
                                          std::memory_order_relaxed));
    if (!last) wakeup.send();
  }

  /// Hands every posted waiter to `take(waiter, how)`, first posted first. `take` may destroy the waiter, and may
  /// cause posts to this mailbox. If it throws, posts the rest again. Returns false when the mailbox was empty.
  /// Otherwise one send() was for these waiters, or is about to come.
  template <class Take>
  bool collect(Take&& take) {
    if (!last_.load(std::memory_order_relaxed)) return false;  // cheaper than an exchange
    Waiter* first = nullptr;
    Waiter* const last = last_.exchange(nullptr, std::memory_order_acquire);
    for (Waiter* w = last; w;) {
      Waiter* earlier = std::exchange(w->posted, first);
      first = std::exchange(w, earlier);
    }
    while (first) {
      Waiter& w = *std::exchange(first, first->posted);
      try {
        take(w, w.how);
      } catch (...) {
        while (first) {
          Waiter& rest = *std::exchange(first, first->posted);
          wake(rest, rest.how);
        }
        throw;
      }
    }
    return last != nullptr;
  }

 private:
  Wakeup& wakeup_;
  typename P::template Atomic<Waiter*> last_{nullptr};
};

using Mailbox = BasicMailbox<Platform>;

}  // namespace boxoffice
