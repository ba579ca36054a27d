// A counting semaphore with weights and priorities, strictly in the order of its queue. A light waiter does
// not overtake a heavier one that arrived before it with the same priority. Only the releaser's own waiters
// may, within the patience of the head.
//
//     31 ................ 2 | 1         | 0
//     value (signed)        | abandoned | queue
//
//   acquire(w)   value - w, if value >= w and no waiter has the same or a higher priority; else the queue
//   release(n)   value + n, then the head of the queue is admitted as long as its weight fits
//   reclaim      releases a dead agent's units, with `abandoned`; the next holder that keeps its units clears it and is
//                told
//
// setValue may set the value below zero: then no waiter is admitted until releases have made up for it.
// Invariant: value + weights held = what the constructor, setValue and releases have put in.
#pragma once

#include <algorithm>

#include "locks/lock_word.h"
#include "platform/misuse.h"

namespace boxoffice {

struct WeightedSemaphoreRules : InOrder {
  static constexpr Word kAbandoned = 2;
  static constexpr int kValueShift = 2;
  static constexpr std::int32_t kMax = (1 << 29) - 1;

  // Right shift of a negative value is arithmetic since C++20.
  static std::int32_t value(Word word) noexcept {
    return static_cast<std::int32_t>(word) >> kValueShift;
  }
  static constexpr Word with(Word word, std::int32_t value) noexcept {
    return (word & ((1U << kValueShift) - 1)) | (static_cast<Word>(value) << kValueShift);
  }
  static std::uint32_t checkedWeight(std::int32_t weight) {
    if (weight < 1 || weight > kMax) {
      throwMisuse(Fault::badArgument, "a weight is from 1 to kMax");
    }
    return static_cast<std::uint32_t>(weight);
  }
  static void check(const Waiter& w) {
    checkedWeight(static_cast<std::int32_t>(w.ask));
    checkPriority(w);
  }
  static bool fits(Word word, const Waiter& w) noexcept {
    return value(word) >= static_cast<std::int32_t>(w.ask);
  }
  static Word take(Word word, Waiter& w) noexcept {
    w.abandoned = (word & kAbandoned) != 0 && !w.isPassing;
    const Word told = w.abandoned ? word & ~kAbandoned : word;
    return with(told, value(word) - static_cast<std::int32_t>(w.ask));
  }
};

template <class P>
class BasicWeightedSemaphore : public LockWord<P, WeightedSemaphoreRules> {
  using Base = LockWord<P, WeightedSemaphoreRules>;
  using Rules = WeightedSemaphoreRules;

 public:
  using typename Base::Word;

  static constexpr std::int32_t kMax = Rules::kMax;
  static constexpr std::int32_t kMin = -(1 << 29);

  /// `value` must be in [kMin, kMax]; else throws Misuse(badArgument).
  constexpr explicit BasicWeightedSemaphore(std::int32_t value)
      : Base(Rules::with(0, checked(value))) {}

  /// Takes `weight` from the value, in the order of the queue. Throws Misuse(badArgument) outside [1, kMax].
  Entry acquire(std::int32_t weight = 1) { return acquireUntil(kNever, weight); }

  /// Not granted when `timeout` passed first. A timeout of zero or less never sleeps: it acquires what is available
  /// at once.
  Entry acquireFor(Timeout timeout, std::int32_t weight = 1, double priority = 0) {
    return acquireUntil(deadlineIn(timeout), weight, priority);
  }

  Entry acquireUntil(Deadline deadline, std::int32_t weight = 1, double priority = 0) {
    Waiter w;
    w.agent = P::agent();
    w.ask = static_cast<std::uint32_t>(weight);
    w.priority = priority;
    const bool mayWait = deadline == kNever || deadline > P::now();
    return Base::entry(mayWait ? Base::enterBlocking(w, deadline) : Base::enterNow(w), w);
  }

  /// Never blocks, and never overtakes a waiter.
  Entry tryAcquire(std::int32_t weight = 1) {
    Waiter w;
    w.ask = Rules::checkedWeight(weight);
    return Base::entry(Base::tryEnter(w), w);
  }

  /// Puts `weight` back. Throws Misuse(overflow) and changes nothing when the value would pass kMax. The
  /// waiters of agent `me` may go first within the patience of the head.
  [[gnu::always_inline]] void release(std::int32_t weight = 1, AgentId me = P::agent()) {
    const auto more = static_cast<std::int32_t>(Rules::checkedWeight(weight));
    Base::change(me, [more](Word word) {
      if (Rules::value(word) > kMax - more) {
        throwMisuse(Fault::overflow, "semaphore value above its maximum");
      }
      return Rules::with(word, Rules::value(word) + more);
    });
  }

  /// Puts back a dead agent's units, and tells the next holder. Does not raise the value above `most`, because other
  /// agents may already have made up for the dead agent's units.
  void reclaim(std::int32_t held, std::int32_t most) {
    Base::change(kNoAgent, [held, most](Word word) {
      const std::int64_t value = Rules::value(word);
      const std::int64_t after = std::max(value, std::min<std::int64_t>(value + held, most));
      if (after == value) return word;
      return Rules::with(word, static_cast<std::int32_t>(after)) | Rules::kAbandoned;
    });
  }

  /// Sets the value, and admits the waiters that fit then. Throws Misuse(badArgument) outside [kMin, kMax].
  void setValue(std::int32_t value, AgentId me = P::agent()) {
    checked(value);
    Base::change(me, [value](Word word) { return Rules::with(word, value); });
  }

  std::int32_t value() const noexcept { return Rules::value(Base::word()); }

 private:
  static constexpr std::int32_t checked(std::int32_t value) {
    if (value < kMin || value > kMax) {
      throwMisuse(Fault::badArgument, "a semaphore's value is from kMin to kMax");
    }
    return value;
  }
};

using WeightedSemaphore = BasicWeightedSemaphore<Platform>;

}  // namespace boxoffice
