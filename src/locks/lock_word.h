// The part that every lock shares: the word that determines the holder, and the access to its queue of waiters.
//
// A primitive gives its Rules, pure functions over the word:
//     static bool fits(Word, const Waiter&)   may this waiter be granted now?
//     static Word take(Word, Waiter&)         the word after the grant; sets w.abandoned
//     static bool isFree(Word)                may any agent take it while others wait?
//     static bool makesRoom(Word, Word)       may this change admit a waiter?
//     static void check(const Waiter&)        throws for a waiter that the word cannot represent
//     kWaker, kHandOff                        its bits for these (queue_bits.h)
// and inherits enter, wait, leave and admit, for threads and event loops alike. InOrder has the last
// five Rules for a lock whose waiters never compete, because its word is never free to be taken.
//
//     no queue ── enter ──▶ queue ── release: invites the head ──▶ queue, waker   (the word is free)
//        ▲                 ▲  ▲                                     │   │
//        │                 │  └── the waker took the word, lost ────┘   │ the waker lost, and
//        │                 │      it to another, or left the queue       │ its patience is over
//        │                 │                                            ▼
//        │                 └───── release: the head owns the word ── queue, hand-off
//        └─ the last waiter has left
//
// Fairness. A release that goes through the bucket hands the word directly to the head once the head's patience is
// over, counted from when it became the head. Until then two agents may overtake it: the releaser's own next waiter,
// to which a hand-off costs nanoseconds instead of a wake-up, and any agent that takes the free word while the invited
// head is on its way. Releases meanwhile neither lock the bucket nor read the clock: the invited head does both when it
// competes. So a waiter that is awake and has been overtaken for kPatience is next.
//
// Memory order: a change releases, a take acquires. A release also acquires (acq_rel) the earlier releases of others
// in the word: several exits may add up to one hand-off, and the admitted waiter never reads the word itself.
#pragma once

#include <cstdint>

#include "locks/queue_bits.h"
#include "locks/queued_lock.h"

namespace boxoffice {

template <class P, class Rules>
class LockWord : public QueuedLock<P, LockWord<P, Rules>> {
  using Base = QueuedLock<P, LockWord<P, Rules>>;
  friend Base;

 public:
  using Word = std::uint32_t;

  constexpr explicit LockWord(Word initial) : word_(initial) {}
  LockWord(const LockWord&) = delete;
  LockWord& operator=(const LockWord&) = delete;

  Word word() const noexcept { return word_.load(std::memory_order_acquire); }

  /// Admits w if there is no queue or, if w may overtake, if the word is free without kHandOff. Never blocks.
  [[gnu::always_inline]] bool tryEnter(Waiter& w) noexcept {
    Word word = word_.load(std::memory_order_acquire);
    while (Bits::isOpen(word, w) && Rules::fits(word, w)) {
      const Word taken = Rules::take(word, w);
      // An entry that leaves no trace (a set event) needs no write, only the acquire above.
      if (taken == word || word_.compare_exchange_weak(word, taken, std::memory_order_acquire)) {
        return true;
      }
    }
    return false;
  }

  /// Admits w at once and returns true, or queues it and returns false. A queued waiter's parker is woken later, and
  /// must call resume. If it throws std::bad_alloc, w is neither admitted nor queued.
  [[gnu::always_inline]] bool enter(Waiter& w) {
    check(w);
    return tryEnter(w) || enterByBucket(w);
  }

  /// As enter, for a caller that may not wait: admits w at once, or returns false. Never queues it, because a queued
  /// waiter makes the lock look taken to others.
  bool enterNow(Waiter& w) {
    check(w);
    return tryEnter(w) || tryAhead(w);
  }

  /// Called after a wake. Returns whether w is admitted. If not, it has left, or it was invited and came too late,
  /// and stays in the queue.
  bool resume(Waiter& w, Wake how) noexcept {
    if (how == Wake::admitted) {
      w.state = Waiter::State::idle;
      return true;
    }
    auto bucket = P::lot().open(this);
    if (w.state == Waiter::State::idle) return false;  // the waiter has left meanwhile
    if (w.state == Waiter::State::admitted) {
      w.state = Waiter::State::idle;
      return true;
    }
    return compete(w, bucket);
  }

  /// Stops waiting. Throws Misuse(notWaiting) when w neither waits nor was admitted.
  Leave leave(Waiter& w) { return leave(w, unchanged); }

  /// Takes all waiters of `agent` out of the queue, as leave does, before any waiter behind them is admitted. Calls
  /// `gone(waiter, how)` for each, which must not throw. Waiters that have been admitted are not in the queue.
  template <class Gone>
  void leaveAll(AgentId agent, Gone&& gone) {
    leaveAll(agent, gone, unchanged);
  }

  /// Returns how long the head may still be overtaken: zero when it is next, or when the queue is empty.
  std::chrono::nanoseconds patience() const {
    auto bucket = P::lot().open(this);
    if (bucket.empty()) return {};
    const WaitQueue& queue = bucket.queue();
    const auto now = P::now();
    if (queue.handsOff || !queue.head()->mayBeOvertaken || queue.patience <= now) return {};
    return queue.patience - now;
  }

 protected:
  using Bits = QueueBits<P, Rules>;

  /// Changes the word by `left`, which makes room, and admits the waiters that fit then, those of the agent `leaver`
  /// first. When `left` throws, nothing has changed.
  template <class Left>
  [[gnu::always_inline]] void change(AgentId leaver, Left&& left) {
    if (changeIf(Bits::mayChange, left)) return;
    changeQueued(leaver, left);
  }

  /// As change, for an agent with waiters in the queue, which need not wait for the designated waker.
  template <class Left>
  void changeQueued(AgentId leaver, Left&& left) {
    auto bucket = P::lot().open(this);
    if (bucket.empty()) {
      // The last waiter may have left meanwhile. Nor may this crash when shared memory is corrupt.
      const auto alone = [&left](Word word) { return Bits::with(left(word), 0); };
      changeIf([](Word, Word) { return true; }, alone);
    } else {
      admitWaiters(bucket, leaver, left);
    }
  }

  /// As leave. `left` undoes the change that the wait has made to the word.
  template <class Left>
  Leave leave(Waiter& w, Left&& left) {
    auto bucket = P::lot().open(this);
    if (wasAdmitted(w)) return Leave::admitted;
    const bool awake = w.state == Waiter::State::invited;
    bucket.queue().leave(w);
    admitWaiters(bucket, kNoAgent, left);  // waiters behind it may fit now
    return awake ? Leave::leftAwake : Leave::left;
  }

  /// As leaveAll. `left` undoes the changes that the waits have made to the word.
  template <class Gone, class Left>
  void leaveAll(AgentId agent, Gone&& gone, Left&& left) {
    auto bucket = P::lot().open(this);
    if (bucket.empty()) return;
    bucket.queue().leaveAll(agent, [&gone](Waiter& w, bool isAwake) {
      gone(w, isAwake ? Leave::leftAwake : Leave::left);
    });
    admitWaiters(bucket, kNoAgent, left);
  }

  typename P::template Atomic<Word> word_;

 private:
  using Bucket = typename ParkingLot<P>::Bucket;

  static void check(const Waiter& w) { Rules::check(w); }

  template <class May, class Left>
  bool changeIf(May may, Left& left) {
    Word word = word_.load(std::memory_order_relaxed);
    for (;;) {
      const Word after = left(word);
      if (!may(word, after)) return false;
      // Write the word even if nothing changes (an event set twice), because the store carries the release.
      if (word_.compare_exchange_weak(word, after, std::memory_order_acq_rel,
                                      std::memory_order_relaxed)) {
        return true;
      }
    }
  }

  /// Admits w ahead of a queue without a waiter of its priority or above. Does not change the queue's bits.
  bool tryAhead(Waiter& w) noexcept {
    auto bucket = P::lot().open(this);
    if (!bucket.empty() && w.priority <= bucket.queue().topPriority()) return false;
    Word word = word_.load(std::memory_order_relaxed);
    while (Rules::fits(word, w)) {
      const Word taken = Bits::with(Rules::take(word, w), word & Bits::kAll);
      if (word_.compare_exchange_weak(word, taken, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  bool enterByBucket(Waiter& w) {
    auto bucket = P::lot().open(this);
    Word word = word_.load(std::memory_order_relaxed);
    const bool first = bucket.empty();
    WaitQueue& queue = bucket.obtainQueue();
    const bool foremost = first || w.priority > queue.topPriority();
    queue.enter(w);  // may throw, so enter before kQueued is set
    for (;;) {
      const bool mayGo = foremost || Bits::isOpen(word, w);
      const bool goes = mayGo && Rules::fits(word, w);
      const Word next = goes ? Bits::with(Rules::take(word, w), Bits::of(queue, &w))
                             : Bits::with(word, Bits::of(queue));
      if (next != word && !word_.compare_exchange_weak(word, next, std::memory_order_acquire,
                                                       std::memory_order_relaxed)) {
        continue;
      }
      if (goes) {
        // A word that did not change (a set event) was only read, so acquire its setter's release.
        if (next == word) word_.load(std::memory_order_acquire);
        queue.leave(w);
      } else if (first) {
        Base::startPatience(queue);
      }
      return goes;
    }
  }

  /// The invited head tries to take the word, in competition with other agents.
  bool compete(Waiter& w, Bucket& bucket) noexcept {
    WaitQueue& queue = bucket.queue();
    if (queue.head() != &w) {  // a waiter of a higher priority has entered since
      queue.uninvite(w);
      admitWaiters(bucket, kNoAgent, unchanged);  // invites the head, if the word is still free
      return false;
    }
    Word word = word_.load(std::memory_order_relaxed);
    for (;;) {
      const bool fits = Rules::fits(word, w);
      if (fits &&
          word_.compare_exchange_strong(word, Bits::with(Rules::take(word, w), Bits::of(queue, &w)),
                                        std::memory_order_acquire, std::memory_order_relaxed)) {
        break;
      }
      if (!queue.handsOff && P::now() >= queue.patience) {
        // Other agents could take and free the word for ever between our looks at it. This ends that.
        queue.handsOff = true;
        word = word_.fetch_or(Rules::kHandOff, std::memory_order_relaxed) | Rules::kHandOff;
        continue;
      }
      if (!fits &&
          word_.compare_exchange_strong(word, Bits::with(word, Bits::of(queue) & ~Rules::kWaker),
                                        std::memory_order_relaxed)) {
        queue.uninvite(w);
        return false;
      }
    }
    queue.leave(w);
    if (!queue.empty()) {
      Base::startPatience(queue);
      admitWaiters(bucket, w.agent, unchanged);  // readers behind a reader
    }
    return true;
  }

  static Word unchanged(Word word) noexcept { return word; }

  /// Applies `left` to a word with a queue, then admits the waiters that are next, one compare-and-swap each. If the
  /// word is free then, invites the head.
  template <class Left>
  void admitWaiters(Bucket& bucket, AgentId leaver, Left&& left) {
    WaitQueue& queue = bucket.queue();
    Word seen = word_.load(std::memory_order_acquire);
    bool applied = false;
    for (;;) {
      const Word word = applied ? seen : left(seen);
      Waiter* const next = Bits::choose(queue, leaver, word);
      const bool invites = !next && !queue.empty() && !queue.invited() && Rules::isFree(word);
      const Word after = next ? Bits::with(Rules::take(word, *next), Bits::of(queue, next))
                              : Bits::with(word, Bits::of(queue) | (invites ? Rules::kWaker : 0));
      if ((after != seen || !applied) &&
          !word_.compare_exchange_strong(seen, after, std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
        continue;
      }
      seen = after;
      applied = true;
      if (next) {
        admit(bucket, *next);
        continue;
      }
      if (invites) bucket.invite(*queue.head());
      return;
    }
  }

  static void admit(Bucket& bucket, Waiter& w) {
    WaitQueue& queue = bucket.queue();
    const bool wasHead = queue.head() == &w;
    bucket.admit(w);
    if (wasHead) Base::passedHead(queue, w);
  }
};

}  // namespace boxoffice
