// A latch: opens once, when it has been counted down to zero, and stays open.
//
//     31 ........ 1 | 0
//     count         | queue
//
//   countDown(n)   count - n; at zero every queued waiter goes
//   wait           zero: pass. Else into the queue.
#pragma once

#include "locks/waitable_word.h"
#include "platform/misuse.h"

namespace boxoffice {

struct CountdownLatchRules : InOrder {
  static constexpr int kCountShift = 1;

  static std::uint32_t count(Word word) noexcept { return word >> kCountShift; }
  static bool fits(Word word, const Waiter&) noexcept { return count(word) == 0; }
  static Word take(Word word, Waiter&) noexcept { return word; }
};

template <class P>
class BasicCountdownLatch : public WaitableWord<P, CountdownLatchRules> {
  using Base = WaitableWord<P, CountdownLatchRules>;
  using Rules = CountdownLatchRules;

 public:
  using typename Base::Word;

  static constexpr std::uint32_t kMax = (1U << 31) - 1;

  /// `count` must be at most kMax; else throws Misuse(badArgument).
  constexpr explicit BasicCountdownLatch(std::uint32_t count)
      : Base(checked(count) << Rules::kCountShift) {}

  /// Throws Misuse(underflow) and changes nothing when fewer than n are left to count.
  void countDown(std::uint32_t n = 1, AgentId me = P::agent()) {
    Base::change(me, [n](Word word) {
      if (n > Rules::count(word)) {
        throwMisuse(Fault::underflow, "a latch counted down below zero");
      }
      return word - (n << Rules::kCountShift);
    });
  }

  bool tryWait() const noexcept { return count() == 0; }

  std::uint32_t count() const noexcept { return Rules::count(Base::word()); }

 private:
  static constexpr std::uint32_t checked(std::uint32_t count) {
    if (count > kMax) throwMisuse(Fault::badArgument, "a latch counts down from at most kMax");
    return count;
  }
};

using CountdownLatch = BasicCountdownLatch<Platform>;

}  // namespace boxoffice
