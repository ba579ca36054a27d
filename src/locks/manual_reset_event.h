// An event that, once set, lets every waiter through until it is reset.
//
//     1   | 0
//     set | queue
//
//   set     every queued waiter goes; later ones pass with one load
//   reset   later ones wait again
// Invariant: never set while a waiter is queued.
#pragma once

#include "locks/waitable_word.h"

namespace boxoffice {

struct ManualResetEventRules : InOrder {
  static constexpr Word kSet = 2;

  static bool fits(Word word, const Waiter&) noexcept { return (word & kSet) != 0; }
  static Word take(Word word, Waiter&) noexcept { return word; }
};

template <class P>
class BasicManualResetEvent : public WaitableWord<P, ManualResetEventRules> {
  using Base = WaitableWord<P, ManualResetEventRules>;
  using Rules = ManualResetEventRules;

 public:
  using typename Base::Word;

  constexpr explicit BasicManualResetEvent(bool set = false) : Base(set ? Rules::kSet : 0) {}

  void set(AgentId me = P::agent()) {
    Base::change(me, [](Word word) { return word | Rules::kSet; });
  }
  void reset() {
    Base::change(kNoAgent, [](Word word) { return word & ~Rules::kSet; });
  }

  bool tryWait() noexcept { return isSet(); }

  bool isSet() const noexcept { return (Base::word() & Rules::kSet) != 0; }
};

using ManualResetEvent = BasicManualResetEvent<Platform>;

}  // namespace boxoffice
