// A cyclic barrier: everybody waits until all parties have arrived, then all go, and it can be used
// again at once. One that gives up breaks it for all, since the others would wait for ever.
//
//     31 ........ 2 | 1      | 0
//     arrived       | broken | line
//
//   arrive    arrived + 1. The last one resets it to 0 and admits all in line: they are exactly
//             this round's other parties, so two rounds never mix.
//   give up   broken: all in line go with Passage::broken, as does whoever comes until reset
// Every change of the word is made in the bucket; invariant: arrived = length of the line.
#pragma once

#include "lot.h"
#include "misuse.h"
#include "thread_parker.h"

namespace boxoffice {

enum class Passage : std::uint8_t {
  waiting,  ///< in line: a wake will say more
  passed,   ///< all have arrived
  last,     ///< the same, and we were the one who completed the round
  broken    ///< one gave up, or the barrier was broken or reset
};

template <class P>
class BasicBarrier {
 public:
  static constexpr std::uint32_t kMaxParties = (1U << 30) - 1;

  /// `parties` must be in [1, kMaxParties]; else Misuse(badArgument).
  explicit BasicBarrier(std::uint32_t parties) : parties_(parties) {
    if (parties < 1 || parties > kMaxParties) {
      throw Misuse(Fault::badArgument, "a barrier has 1 to kMaxParties parties");
    }
  }
  BasicBarrier(const BasicBarrier&) = delete;
  BasicBarrier& operator=(const BasicBarrier&) = delete;

  /// Arrives and waits for the others: passed, last or broken.
  Passage wait() { return waitUntil(kNever); }
  Passage waitFor(std::chrono::nanoseconds timeout) { return waitUntil(deadlineIn(timeout)); }

  /// When the deadline passes first, the barrier breaks.
  Passage waitUntil(Deadline deadline) {
    auto& parker = P::parker();
    Waiter w(parker, P::agent());
    const Passage passage = enter(w);
    if (passage != Passage::waiting) return passage;
    if (!parker.waitUntil(deadline)) {
      if (leave(w)) return Passage::broken;
      parker.take();
    }
    return settle(w);
  }

  /// Breaks the barrier: all who wait, and all who come before reset, get Passage::broken.
  void breakNow() {
    auto bucket = P::lot().open(this);
    breakIn(bucket);
  }

  /// Starts anew; those who wait get Passage::broken.
  void reset() {
    auto bucket = P::lot().open(this);
    breakIn(bucket);
    word_.store(0, std::memory_order_relaxed);
  }

  bool isBroken() const noexcept { return (word_.load(std::memory_order_acquire) & kBroken) != 0; }
  std::uint32_t parties() const noexcept { return parties_; }
  /// How many wait in this round.
  std::uint32_t arrived() const noexcept {
    return word_.load(std::memory_order_acquire) >> kArrivedShift;
  }

  /// For those who wait without blocking: Passage::waiting, and settle says more after the wake.
  Passage enter(Waiter& w) {
    auto bucket = P::lot().open(this);
    const std::uint32_t word = word_.load(std::memory_order_relaxed);
    if (word & kBroken) return Passage::broken;
    const std::uint32_t arrived = (word >> kArrivedShift) + 1;
    if (arrived < parties_) {
      bucket.obtainLine().enter(w);
      w.abandoned = false;
      word_.store((arrived << kArrivedShift) | kLine, std::memory_order_release);
      return Passage::waiting;
    }
    admitAll(bucket, false);
    word_.store(0, std::memory_order_release);
    return Passage::last;
  }

  /// After the wake: passed or broken.
  Passage settle(Waiter& w) noexcept {
    w.state = Waiter::State::idle;
    return w.abandoned ? Passage::broken : Passage::passed;
  }

  /// Gives up and breaks the barrier. False when it was too late: the wake has been sent.
  /// Misuse(notWaiting) when w waits for nothing.
  bool leave(Waiter& w) {
    auto bucket = P::lot().open(this);
    if (w.state == Waiter::State::admitted) return false;
    if (w.state == Waiter::State::idle) {
      throw Misuse(Fault::notWaiting, "this waiter waits for nothing");
    }
    bucket.line().leave(w);
    breakIn(bucket);
    return true;
  }

 private:
  using Bucket = typename Lot<P>::Bucket;
  static constexpr std::uint32_t kLine = 1;
  static constexpr std::uint32_t kBroken = 2;
  static constexpr int kArrivedShift = 2;

  void breakIn(Bucket& bucket) noexcept {
    admitAll(bucket, true);
    word_.store(kBroken, std::memory_order_release);
  }

  static void admitAll(Bucket& bucket, bool broken) noexcept {
    if (bucket.empty()) return;
    while (Waiter* w = bucket.line().head()) {
      w->abandoned = broken;
      bucket.admit(*w);
    }
  }

  const std::uint32_t parties_;
  typename P::template Atomic<std::uint32_t> word_{0};
};

using Barrier = BasicBarrier<Platform>;

}  // namespace boxoffice
