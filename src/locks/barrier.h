// A cyclic barrier: each party waits until all parties have arrived; then all go, and the barrier can be
// used again at once. A party that gives up breaks the barrier for all, since the others would wait for
// ever.
//
//     31 ........ 2 | 1      | 0
//     missing       | broken | queue
//
//   arrive    missing - 1. The last party sets it to the number of parties again and admits the whole
//             queue: exactly this round's other parties, so two rounds never mix.
//   give up   broken: all queued waiters get Passage::broken, and so do later arrivals until reset
// Every change of the word is made in the bucket.
// Invariant, unless broken: missing + length of the queue = parties.
//
// BasicBarrierWord is the word alone, so that it can lie anywhere. Each arriving party passes the number of
// parties, always the same.
#pragma once

#include "locks/lock_word.h"

namespace boxoffice {

enum class Passage : std::uint8_t {
  waiting,  ///< in the queue: a wake will follow
  passed,   ///< all parties have arrived
  last,     ///< all parties have arrived, and the caller was the last
  broken,   ///< a party gave up, or the barrier was broken or reset
  gaveUp    ///< the caller gave up: the deadline passed first
};

/// Arrives at a barrier, and blocks the calling thread: passed, last, broken or gaveUp.
template <class P, class AnyBarrier>
Passage arriveBlocking(AnyBarrier& barrier, Waiter& w, std::uint32_t parties, Deadline deadline) {
  auto& parker = P::parker();
  w.parker = &parker;
  const Passage passage = barrier.enter(w, parties);
  if (passage != Passage::waiting) return passage;
  if (!parker.waitUntil(deadline)) {
    if (barrier.leave(w) == Leave::left) return Passage::gaveUp;
    parker.take();
  }
  w.state = Waiter::State::idle;
  return w.abandoned ? Passage::broken : Passage::passed;
}

template <class P>
class BasicBarrierWord {
 public:
  using Word = std::uint32_t;
  static constexpr std::uint32_t kMaxParties = (1U << 30) - 1;
  static constexpr Word kQueued = 1;
  static constexpr Word kBroken = 2;
  static constexpr int kMissingShift = 2;

  /// `parties` must be in [1, kMaxParties]; else throws Misuse(badArgument).
  constexpr explicit BasicBarrierWord(std::uint32_t parties) : word_(startOf(checked(parties))) {}
  BasicBarrierWord(const BasicBarrierWord&) = delete;
  BasicBarrierWord& operator=(const BasicBarrierWord&) = delete;

  /// Arrives: waiting, last or broken. Unless broken, `w.ask` is then the number of missing parties. Throws
  /// std::bad_alloc, and then nothing has changed.
  Passage enter(Waiter& w, std::uint32_t parties) {
    auto bucket = P::lot().open(this);
    const Word word = word_.load(std::memory_order_relaxed);
    if (word & kBroken) return Passage::broken;
    const std::uint32_t missing = word >> kMissingShift;
    w.ask = missing - 1;
    if (missing > 1) {
      bucket.obtainQueue().enter(w);
      w.abandoned = false;
      word_.store(((missing - 1) << kMissingShift) | kQueued, std::memory_order_release);
      return Passage::waiting;
    }
    admitAll(bucket, false);
    word_.store(startOf(parties), std::memory_order_release);
    return Passage::last;
  }

  /// After the wake: passed or broken.
  Passage resume(Waiter& w) noexcept {
    w.state = Waiter::State::idle;
    return w.abandoned ? Passage::broken : Passage::passed;
  }

  /// Gives up and breaks the barrier. Returns `left`, or `admitted` when it was too late and the wake was sent.
  /// Throws Misuse(notWaiting) when w is in no queue.
  Leave leave(Waiter& w) {
    auto bucket = P::lot().open(this);
    if (wasAdmitted(w)) return Leave::admitted;
    bucket.queue().leave(w);
    breakIn(bucket);
    return Leave::left;
  }

  /// Arrives, and blocks the calling thread: passed, last, broken or gaveUp.
  Passage enterBlocking(Waiter& w, std::uint32_t parties, Deadline deadline) {
    return arriveBlocking<P>(*this, w, parties, deadline);
  }

  /// Breaks the barrier: all queued waiters, and all arrivals before reset, get Passage::broken.
  void breakNow() {
    auto bucket = P::lot().open(this);
    breakIn(bucket);
  }

  /// Starts anew; queued waiters get Passage::broken.
  void reset(std::uint32_t parties) {
    auto bucket = P::lot().open(this);
    breakIn(bucket);
    word_.store(startOf(parties), std::memory_order_release);
  }

  bool isBroken() const noexcept { return (word_.load(std::memory_order_acquire) & kBroken) != 0; }

  /// The number of parties that wait in this round.
  std::uint32_t arrived(std::uint32_t parties) const noexcept {
    const Word word = word_.load(std::memory_order_acquire);
    return word & kBroken ? 0 : parties - (word >> kMissingShift);
  }

 private:
  using Bucket = typename ParkingLot<P>::Bucket;

  static constexpr Word startOf(std::uint32_t parties) noexcept { return parties << kMissingShift; }

  static constexpr std::uint32_t checked(std::uint32_t parties) {
    if (parties < 1 || parties > kMaxParties) {
      throwMisuse(Fault::badArgument, "a barrier has 1 to kMaxParties parties");
    }
    return parties;
  }

  void breakIn(Bucket& bucket) noexcept {
    admitAll(bucket, true);
    word_.store(kBroken, std::memory_order_release);
  }

  static void admitAll(Bucket& bucket, bool broken) noexcept {
    if (bucket.empty()) return;
    while (Waiter* w = bucket.queue().head()) {
      w->abandoned = broken;
      bucket.admit(*w);
    }
  }

  typename P::template Atomic<Word> word_;
};

/// A barrier that knows the number of its parties.
template <class P>
class BasicBarrier : private BasicBarrierWord<P> {
  using Base = BasicBarrierWord<P>;

 public:
  using Base::kMaxParties;

  /// `parties` must be in [1, kMaxParties]; else throws Misuse(badArgument).
  constexpr explicit BasicBarrier(std::uint32_t parties) : Base(parties), parties_(parties) {}

  /// Arrives and waits for the others: passed, last or broken.
  Passage wait() { return waitUntil(kNever); }
  Passage waitFor(Timeout timeout) { return waitUntil(deadlineIn(timeout)); }

  /// When the deadline passes first, or a Stop (thread_parker.h) ends the wait, the barrier breaks.
  Passage waitUntil(Deadline deadline) {
    Waiter w;
    w.agent = P::agent();
    const Passage passage = Base::enterBlocking(w, parties_, deadline);
    return passage == Passage::gaveUp ? Passage::broken : passage;
  }

  void reset() { Base::reset(parties_); }
  using Base::breakNow;
  using Base::isBroken;
  std::uint32_t parties() const noexcept { return parties_; }
  std::uint32_t arrived() const noexcept { return Base::arrived(parties_); }

  // For callers that do not block (see above): after Passage::waiting and a wake, resume tells the result.
  Passage enter(Waiter& w) { return Base::enter(w, parties_); }
  using Base::resume;
  /// Returns false when it was too late and the wake was sent.
  bool leave(Waiter& w) { return Base::leave(w) == Leave::left; }

 private:
  const std::uint32_t parties_;
};

using BarrierWord = BasicBarrierWord<Platform>;
using Barrier = BasicBarrier<Platform>;

}  // namespace boxoffice
