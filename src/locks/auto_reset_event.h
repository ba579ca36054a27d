// An event that lets one waiter through per signal. A signal while it is set has no further effect.
//
//     1   | 0
//     set | queue
//
//   signal   sets the event, or admits the head of the queue. Writes the word even if the event is set: the
//            store publishes what the signaller did before to the waiter that takes the event.
//   wait     clears a set event and passes, or enters the queue
// Invariant: never set while a waiter is queued.
#pragma once

#include "locks/waitable_word.h"

namespace boxoffice {

struct AutoResetEventRules : InOrder {
  static constexpr Word kSet = 2;

  static bool fits(Word word, const Waiter&) noexcept { return (word & kSet) != 0; }
  static Word take(Word word, Waiter&) noexcept { return word & ~kSet; }
};

template <class P>
class BasicAutoResetEvent : public WaitableWord<P, AutoResetEventRules> {
  using Base = WaitableWord<P, AutoResetEventRules>;
  using Rules = AutoResetEventRules;

 public:
  using typename Base::Word;

  constexpr explicit BasicAutoResetEvent(bool set = false) : Base(set ? Rules::kSet : 0) {}

  void signal(AgentId me = P::agent()) {
    Base::change(me, [](Word word) { return word | Rules::kSet; });
  }

  bool tryWait() noexcept {
    Waiter w;
    return Base::tryEnter(w);
  }

  bool isSet() const noexcept { return (Base::word() & Rules::kSet) != 0; }
};

using AutoResetEvent = BasicAutoResetEvent<Platform>;

}  // namespace boxoffice
