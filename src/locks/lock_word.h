// The part that every lock shares: the word that decides who holds the lock, and the way to its queue of
// waiters.
//
// A primitive gives its Rules, pure functions over the word:
//     static bool fits(Word, const Waiter&)   may this waiter go in now?
//     static Word take(Word, Waiter&)         the word once it is in; sets w.abandoned
//     static bool isFree(Word)                may any agent take it while others wait?
//     static bool makesRoom(Word, Word)       may this change let a waiter in?
//     kWaker, kHandOff                        its bits for these, see below
// and gets entering, waiting, leaving and admitting, for threads and event loops alike. InOrder has
// the last four Rules for a lock whose waiters never compete: its word is never free to be taken.
//
//     no queue ── enter ──▶ queue ── release: invites the head ──▶ queue, waker   (the word is free)
//        ▲                 ▲  ▲                                     │   │
//        │                 │  └── the waker has taken the word, ────┘   │ the waker came in vain,
//        │                 │      come in vain, or left the queue        │ its patience is over
//        │                 │                                            ▼
//        │                 └───── release: the head owns the word ── queue, hand-off
//        └─ the last waiter has left
//
// Bits of the word that the queue owns. The holder of the bucket alone changes them:
//   kQueued     a waiter stands in the word's queue.
//   kWaker    the designated waker: a waiter of the queue has been invited and is on its way. It will
//             take the word, or clear the bit and ask the next release to call the head again. Set
//             when a free word is left to competition; cleared when that waiter takes the word,
//             finds it taken, is handed it, or leaves the queue (timeout, abort, death).
//   kHandOff  the next release hands the word to the head. Set by the invited head that finds the
//             word taken once its patience is over, and from the start while the head may not be
//             overtaken (fairness: 'fifo'); cleared when that head has left the queue.
//
// Invariants, outside a bucket:
//   1. kQueued is set exactly while a waiter stands in the queue; kWaker exactly while one of those is
//      invited; kHandOff only with kQueued.
//   2. While kQueued is clear, any agent may change the word by compare-and-swap (JavaScript too).
//   3. While kQueued is set, only the holder of the bucket changes the word. There are three exceptions, each
//      one compare-and-swap that leaves the queue's bits alone (JavaScript too): an agent takes a word that
//      isFree and does not have kHandOff; a release makes no room; a release with kWaker and without
//      kHandOff leaves the word free, since the waker is sure to look at it.
//   4. A free word with kQueued has kWaker and does not have kHandOff.
//   5. No waiter that fits is at the head of the queue, unless kWaker is set.
//
// Fairness. A release that goes through the bucket hands the word directly to the head once the head's
// patience is over, counted from when it became the head. Until then two agents may overtake it: the
// releaser's own next waiter, to which a hand-off costs nanoseconds instead of a wake-up, and any agent
// that takes the free word while the invited head is on its way. Releases meanwhile neither lock the bucket
// nor read the clock: the invited head does, when it comes. So a waiter that is awake and has been
// overtaken for kPatience is next.
//
// Memory order: a change releases, a take acquires. A release that finds others' earlier releases in the word
// acquires too (acq_rel): several exits may add up to one hand-off, and the admitted waiter never reads the
// word itself.
#pragma once

#include <cstdint>

#include "waiting/parking_lot.h"
#include "waiting/thread_parker.h"

namespace boxoffice {

/// How long the head of a queue may be overtaken before the lock is handed directly to it.
constexpr std::chrono::milliseconds kPatience{1};

/// The result of an attempt to acquire: `if (mutex.tryLock())`.
struct Entry {
  bool granted = false;  ///< the caller holds the lock; false: not now, or not before the deadline
  bool abandoned = false;  ///< granted, and the last holder died with it: check what it left

  explicit operator bool() const noexcept { return granted; }
};

/// The rest of the Rules of a lock whose waiters are admitted in the order of their queue only.
struct InOrder {
  using Word = std::uint32_t;
  static constexpr Word kWaker = 0;
  static constexpr Word kHandOff = 0;
  static bool isFree(Word) noexcept { return false; }
  static bool makesRoom(Word, Word) noexcept { return true; }
};

enum class Leave : std::uint8_t {
  left,       ///< out of the queue, as if it had never entered
  leftAwake,  ///< the same, but a wake is on its way: take it before the waiter is destroyed
  admitted    ///< too late: the waiter holds the lock, and a wake is on its way
};

template <class P, class Rules>
class LockWord {
 public:
  using Word = std::uint32_t;
  static constexpr Word kQueued = 1;
  static constexpr Word kWaker = Rules::kWaker;
  static constexpr Word kHandOff = Rules::kHandOff;
  static constexpr Word kQueueBits = kQueued | kWaker | kHandOff;

  explicit LockWord(Word initial) : word_(initial) {}
  LockWord(const LockWord&) = delete;
  LockWord& operator=(const LockWord&) = delete;

  Word word() const noexcept { return word_.load(std::memory_order_acquire); }

  static Entry entry(bool in, const Waiter& w) noexcept { return {in, in && w.abandoned}; }

  /// Lets w in if the word is open to it: no queue, or a free word without kHandOff. Never blocks.
  bool tryEnter(Waiter& w) noexcept {
    Word word = word_.load(std::memory_order_acquire);
    while (isOpen(word) && Rules::fits(word, w)) {
      const Word taken = Rules::take(word, w);
      // An entry that leaves no trace (a set event) needs no write, only the acquire above.
      if (taken == word || word_.compare_exchange_weak(word, taken, std::memory_order_acquire)) {
        return true;
      }
    }
    return false;
  }

  /// In at once (true), or in the queue (false). Then w.parker is woken, and must call settle. Throws
  /// std::bad_alloc, and then w is neither.
  bool enter(Waiter& w) { return (w.mayOvertake && tryEnter(w)) || enterByBucket(w); }

  /// After a wake: true when w is in. False when it has left, or when it was invited but came too late;
  /// then it keeps its place and will be woken again.
  bool settle(Waiter& w, Wake how) noexcept {
    if (how == Wake::admitted) {
      w.state = Waiter::State::idle;
      return true;
    }
    auto bucket = P::lot().open(this);
    if (w.state == Waiter::State::idle) return false;  // it has left meanwhile
    if (w.state == Waiter::State::admitted) {
      w.state = Waiter::State::idle;
      return true;
    }
    return compete(w, bucket);
  }

  /// Stops waiting. Throws Misuse(notWaiting) when w neither waits nor was admitted.
  Leave leave(Waiter& w) { return leave(w, unchanged); }

  /// Takes all waiters of `agent` out of the queue, as leave does, before any waiter behind them is let in.
  /// Calls `gone(waiter, how)` for each, which must not throw. Waiters that were admitted already are not
  /// in the queue.
  template <class Gone>
  void leaveAll(AgentId agent, Gone&& gone) {
    leaveAll(agent, gone, unchanged);
  }

  /// Whether a waiter of `agent` is in the queue.
  bool isQueued(AgentId agent) const { return P::lot().isQueued(this, agent); }

  std::size_t queueSize() const { return P::lot().queueSize(this); }

  /// How much longer the head of the queue may be overtaken: zero when it is next, or the queue is empty.
  std::chrono::nanoseconds patience() const {
    auto bucket = P::lot().open(this);
    if (bucket.empty()) return {};
    const WaitQueue& queue = bucket.queue();
    const auto now = P::now();
    if (queue.handsOff || !queue.head()->mayBeOvertaken || queue.patience <= now) return {};
    return queue.patience - now;
  }

  /// Blocks the calling thread until w is in, or the deadline has passed (false).
  bool enterBlocking(Waiter& w, Deadline deadline) {
    if (tryEnter(w)) return true;
    if (deadline != kNever && deadline <= P::now()) return false;
    if (P::lot().spin(this)([&]() noexcept { return tryEnter(w); })) return true;
    auto& parker = P::parker();
    w.parker = &parker;
    return enter(w) || sleep(w, parker, deadline);
  }

  /// The rest of enterBlocking, for a waiter that is in the queue already.
  bool sleep(Waiter& w, ThreadParker<P>& parker, Deadline deadline) {
    for (;;) {
      if (!parker.waitUntil(deadline)) {
        const Leave how = leave(w);
        if (how != Leave::left) parker.take();
        return how == Leave::admitted && settle(w, Wake::admitted);
      }
      if (settle(w, parker.how())) return true;
    }
  }

  /// Changes the word by `left`, which makes room, and admits the waiters that fit then. `leaver` is the
  /// agent whose own waiters go first. When `left` throws, nothing has changed.
  template <class Left>
  void change(AgentId leaver, Left&& left) {
    if (changeIf(mayChange, left)) return;
    changeQueued(leaver, left);
  }

  /// change, for an agent with waiters of its own in the queue: they need not wait for the designated waker.
  template <class Left>
  void changeQueued(AgentId leaver, Left&& left) {
    auto bucket = P::lot().open(this);
    if (bucket.empty()) {
      // The last waiter has left meanwhile, or shared memory is corrupt: do not crash then.
      const auto alone = [&left](Word word) { return withBits(left(word), 0); };
      changeIf([](Word, Word) { return true; }, alone);
    } else {
      admitWaiters(bucket, leaver, left);
    }
  }

 protected:
  /// leave; `left` undoes what the waiting has changed in the word.
  template <class Left>
  Leave leave(Waiter& w, Left&& left) {
    auto bucket = P::lot().open(this);
    if (w.state == Waiter::State::idle) {
      throw Misuse(Fault::notWaiting, "this waiter waits for nothing");
    }
    if (w.state == Waiter::State::admitted) return Leave::admitted;
    const bool awake = w.state == Waiter::State::invited;
    bucket.queue().leave(w);
    admitWaiters(bucket, kNobody, left);  // those behind it may fit now
    return awake ? Leave::leftAwake : Leave::left;
  }

  /// leaveAll; `left` undoes what the waiting has changed in the word.
  template <class Gone, class Left>
  void leaveAll(AgentId agent, Gone&& gone, Left&& left) {
    auto bucket = P::lot().open(this);
    if (bucket.empty()) return;
    WaitQueue& queue = bucket.queue();
    Waiter* next = queue.find(agent);
    while (next) {
      Waiter& w = *next;
      next = w.next;
      const bool awake = w.state == Waiter::State::invited;
      queue.leave(w);
      gone(w, awake ? Leave::leftAwake : Leave::left);
      next = queue.find(agent, next);
    }
    admitWaiters(bucket, kNobody, left);
  }

  /// The queue's bits of the word once `gone` has left the queue.
  static Word bitsOf(const WaitQueue& queue, const Waiter* gone = nullptr) noexcept {
    const Waiter* head = queue.head();
    bool handsOff = queue.handsOff;
    if (head && head == gone) {
      head = queue.behind(*gone);
      handsOff = false;
    }
    if (!head) return 0;
    Word bits = kQueued;
    if (queue.invited() && queue.invited() != gone) bits |= kWaker;
    if (handsOff || !head->mayBeOvertaken) bits |= kHandOff;
    return bits;
  }
  static Word withBits(Word word, Word bits) noexcept { return (word & ~kQueueBits) | bits; }

  typename P::template Atomic<Word> word_;

 private:
  using Bucket = typename ParkingLot<P>::Bucket;

  /// Whether an agent that is not in the queue may take the word.
  static bool isOpen(Word word) noexcept {
    return !(word & kQueued) || (Rules::isFree(word) && !(word & kHandOff));
  }

  /// Whether the word may change without the bucket (invariant 3).
  static bool mayChange(Word from, Word to) noexcept {
    if (!(from & kQueued) || !Rules::makesRoom(from, to)) return true;
    return kWaker && (from & (kWaker | kHandOff)) == kWaker && Rules::isFree(to);
  }

  template <class May, class Left>
  bool changeIf(May may, Left& left) {
    Word word = word_.load(std::memory_order_relaxed);
    for (;;) {
      const Word after = left(word);
      if (!may(word, after)) return false;
      // Written even where nothing changes (an event set twice): the store carries the release.
      if (word_.compare_exchange_weak(word, after, std::memory_order_acq_rel,
                                      std::memory_order_relaxed)) {
        return true;
      }
    }
  }

  bool enterByBucket(Waiter& w) {
    auto bucket = P::lot().open(this);
    Word word = word_.load(std::memory_order_relaxed);
    const bool first = bucket.empty();
    WaitQueue& queue = bucket.obtainQueue();
    const bool foremost = first || w.priority > queue.topPriority();
    queue.enter(w);  // may throw, so before the word says that a waiter is in the queue
    for (;;) {
      const bool mayGo = foremost || (w.mayOvertake && isOpen(word));
      const bool goes = mayGo && Rules::fits(word, w);
      const Word next =
          goes ? withBits(Rules::take(word, w), bitsOf(queue, &w)) : withBits(word, bitsOf(queue));
      if (next != word && !word_.compare_exchange_weak(word, next, std::memory_order_acquire,
                                                       std::memory_order_relaxed)) {
        continue;
      }
      if (goes) {
        // A word that did not change (a set event) was only read: acquire what its setter released.
        if (next == word) word_.load(std::memory_order_acquire);
        queue.leave(w);
      } else if (first) {
        startPatience(queue);
      }
      return goes;
    }
  }

  /// The invited head tries to take the word, in competition with other agents.
  bool compete(Waiter& w, Bucket& bucket) noexcept {
    WaitQueue& queue = bucket.queue();
    if (queue.head() != &w) {  // a waiter of a higher priority has come since
      queue.uninvite(w);
      admitWaiters(bucket, kNobody, unchanged);  // invites the head, if the word is still free
      return false;
    }
    Word word = word_.load(std::memory_order_relaxed);
    for (;;) {
      const bool fits = Rules::fits(word, w);
      if (fits &&
          word_.compare_exchange_strong(word, withBits(Rules::take(word, w), bitsOf(queue, &w)),
                                        std::memory_order_acquire, std::memory_order_relaxed)) {
        break;
      }
      if (!queue.handsOff && P::now() >= queue.patience) {
        // Other agents could take and free the word for ever between our looks at it. This ends that.
        queue.handsOff = true;
        word = word_.fetch_or(kHandOff, std::memory_order_relaxed) | kHandOff;
        continue;
      }
      if (!fits && word_.compare_exchange_strong(word, withBits(word, bitsOf(queue) & ~kWaker),
                                                 std::memory_order_relaxed)) {
        queue.uninvite(w);
        return false;
      }
    }
    queue.leave(w);
    if (!queue.empty()) {
      startPatience(queue);
      admitWaiters(bucket, w.agent, unchanged);  // readers behind a reader
    }
    return true;
  }

  static Word unchanged(Word word) noexcept { return word; }

  /// Applies `left` to a word with a queue, then lets in the waiters that may go now, one
  /// compare-and-swap each, and invites the head to a word that is free then.
  template <class Left>
  void admitWaiters(Bucket& bucket, AgentId leaver, Left&& left) {
    WaitQueue& queue = bucket.queue();
    Word seen = word_.load(std::memory_order_acquire);
    bool applied = false;
    for (;;) {
      const Word word = applied ? seen : left(seen);
      Waiter* const next = choose(queue, leaver, word);
      const bool invites = !next && !queue.empty() && !queue.invited() && Rules::isFree(word);
      const Word after = next ? withBits(Rules::take(word, *next), bitsOf(queue, next))
                              : withBits(word, bitsOf(queue) | (invites ? kWaker : 0));
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

  /// The waiter that goes in now that the word is `word`: the head, or one of the leaver's own, which goes
  /// before it, or none (the head does not fit, or a free word is left to competition).
  static Waiter* choose(const WaitQueue& queue, AgentId leaver, Word word) {
    Waiter* const head = queue.head();
    if (!head || !Rules::fits(word, *head)) return nullptr;
    if (head->agent == leaver || !head->mayBeOvertaken || queue.handsOff) return head;
    if (P::now() >= queue.patience) return head;
    Waiter* const own = queue.firstOf(leaver);
    if (own && Rules::fits(word, *own)) return own;
    return Rules::isFree(word) ? nullptr : head;
  }

  static void admit(Bucket& bucket, Waiter& w) {
    WaitQueue& queue = bucket.queue();
    const bool wasHead = queue.head() == &w;
    bucket.admit(w);
    if (!wasHead || queue.empty()) return;
    // Within an agent there is no clock: its next waiter is the head, and goes.
    if (queue.head()->agent == w.agent) {
      queue.patience = Deadline::min();
    } else {
      startPatience(queue);
    }
  }

  static void startPatience(WaitQueue& queue) { queue.patience = P::now() + kPatience; }
};

}  // namespace boxoffice
