// An auto-reset event of scope host. A signal goes to a process that waits, or sets the event.
//
//   word   63 .. 40 times | 39 .. 32 the process that was served last | 1 set
//   part   see admission_gate.h; its admissions are signals
//
//   signal   gives the signal to a waiting process, round robin; without one, sets the event
//   wait     the head of the local queue passes by a signal of its process, or makes a signal of the set event
//   accepts  a blocked thread accepts a signal when it runs again, a promise when JavaScript is told
//   a death  the dead process's signals that were not accepted are given to other processes
//
// A waiter of the set event counts its signal before it clears the event. If its process dies in between, the signal is
// delivered twice, but never lost.
//
// Invariant, while no call is in progress: if the event is set and a process waits, that process has been notified.
#pragma once

#include "host/admission_gate.h"

namespace boxoffice::host {

template <class P>
class BasicHostEvent : public AdmissionGate<P, BasicHostEvent<P>> {
  using Base = AdmissionGate<P, BasicHostEvent<P>>;
  using typename Base::Bits;
  using typename Base::Visit;
  friend Base;
  friend HostGate<P, BasicHostEvent<P>>;
  friend QueuedLock<P, BasicHostEvent<P>>;

 public:
  /// Admits one waiter: a queued waiter, or else the next that arrives.
  void signal(AgentId = P::agent()) {
    Visit v(*this);
    const ProcessSlot to = give(this->slot_, kNoProcess);
    if (to == kNoProcess) {
      this->tellAll(v);  // a process may have begun to wait since give() looked
    } else if (to != v.me) {
      v.notifications.add(to);
    }
    advance(v);
  }

  /// Does what HostGate::enter does.
  bool enter(Waiter& w) {
    const bool in = Base::enter(w);
    if (in) Base::accepted();
    return in;
  }

  /// Does what HostGate::resume does.
  bool resume(Waiter& w, Wake how) noexcept {
    Base::accepted();
    return Base::resume(w, how);
  }

  bool isSet() const noexcept { return (this->slot_.word.load() & kSet) != 0; }

  static void evict(std::byte* at, ProcessSlot dead) noexcept {
    GateSlot& slot = Base::slotAt(at);
    // Without another waiter the event is set, and then further signals have no effect.
    Base::passOnGiven(slot, dead, [&] { return give(slot, dead) != kNoProcess; });
  }

 private:
  static constexpr Bits kSet = 2;
  static constexpr Bits kTime = Bits{1} << 40;
  static constexpr int kLastAt = 32;
  static constexpr Bits kLast = Bits{0xFF} << kLastAt;

  /// Gives a signal to the process whose turn it is, other than `except`, and returns that process. If none waits,
  /// sets the event and returns kNoProcess.
  static ProcessSlot give(GateSlot& slot, ProcessSlot except) noexcept {
    Bits seen = slot.word.load();
    do {
      const ProcessSlot to = Base::giveBehind(slot, static_cast<unsigned>(seen >> kLastAt), except);
      if (to != kNoProcess) {
        const Bits served = ((seen & ~kLast) + kTime) | Bits{to} << kLastAt;
        slot.word.compare_exchange_strong(seen, served);
        return to;
      }
    } while (!Base::change(slot.word, seen, (seen | kSet) + kTime));
    return kNoProcess;
  }

  bool tryEnter(Waiter&) noexcept {
    Bits seen = this->slot_.word.load();
    while ((seen & kSet) != 0) {
      if (Base::change(this->slot_.word, seen, (seen & ~kSet) + kTime)) return true;
    }
    return false;
  }

  void admitOne() noexcept { signal(); }

  void advance(Visit& v) noexcept {
    while (Waiter* const w = v.head()) {
      Bits now = v.part.load();
      if (!Base::isDue(v, now)) {
        if (!isSet()) return;
        if (!Base::change(v.part, now, now + Base::kOne)) continue;
        if (!tryEnter(*w)) {
          v.part.fetch_sub(Base::kOne);
          continue;
        }
      }
      v.letIn(*w);
    }
  }
};

}  // namespace boxoffice::host
