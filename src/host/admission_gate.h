// The common part of the gates that admit one waiter at a time: events and condition variables. A gate gives an
// admission to a process. If the process dies before its waiter has accepted the admission, it goes to another
// process.
//
//   part   upper half: admissions given to the process | lower half: its waiters
//
//                 enter               give                admitted                accepted
//   (no waiter) ────────▶ waiting ──────────────▶ given ────────────▶ accepting ────────────▶ (no waiter)
//                            │                      │ death               │ death
//                            └ leave ▶ (no waiter)  └──────────┬──────────┘
//                                                              ▼
//                                                given to another waiter instead
//
//   enter      counts the waiter in the part of its process
//   admitted   changes no word: only its own process tells an admitted waiter from a queued one
//   accepted   takes the waiter and its admission out of the part
//   leave      takes out a waiter that has no admission
//   a death    gives the dead process's admissions to other processes, those of accepting waiters included
//
// Each of these is one compare-and-swap. Two waiters may get an admission if a process is killed while it passes it on,
// or if a process that opens the gate (beginAnew) passes it on beside the cleaner. But it is never lost.
//
// Invariants, while no call is in progress:
//   1. A part has no more admissions than waiters.
//   2. waiters = queued + accepting, and admissions >= accepting: more until the process has been notified.
#pragma once

#include "host/host_gate.h"

namespace boxoffice::host {

/// A kind of gate (Self) also has:
///     void admitOne()        gives an admission, as for a caller of this process
template <class P, class Self>
class AdmissionGate : public HostGate<P, Self> {
  using Base = HostGate<P, Self>;

 public:
  /// Called for an admitted waiter, whose admission is no longer passed on after this.
  void accepted() noexcept {
    Word64& part = this->slot_.parts[P::process(this)];
    Bits now = part.load();
    while (given(now) > 0 && Base::waiters(now) > 0) {
      if (Base::change(part, now, now - Base::kOne - 1)) return;
    }
  }

  /// Called for `count` admitted waiters of a dead agent of this process: admits others instead.
  void passOn(std::int64_t count) noexcept {
    for (; count > 0; --count) {
      static_cast<Self*>(this)->admitOne();
      accepted();
    }
  }

 protected:
  using typename Base::Bits;
  using typename Base::Visit;

  AdmissionGate() = default;
  ~AdmissionGate() = default;

  static constexpr std::uint32_t given(Bits part) noexcept { return Base::upper(part); }

  /// Whether the part of this process has an admission for a queued waiter.
  static bool isDue(Visit& v, Bits part) noexcept {
    return given(part) + v.size() > Base::waiters(part);
  }

  void count(Visit& v) noexcept { v.part.fetch_add(1); }

  /// Subtracts a waiter that gives up.
  bool discount(Visit& v) noexcept {
    Bits now = v.part.load();
    while (!isDue(v, now)) {
      if (Base::waiters(now) == 0 || v.part.compare_exchange_strong(now, now - 1)) return true;
    }
    return false;
  }

  /// Gives one admission to the first process behind `last`, other than `except`, that has a waiter without one.
  /// Returns that process, or kNoProcess if there is none.
  static ProcessSlot giveBehind(GateSlot& slot, unsigned last, ProcessSlot except) noexcept {
    unsigned process = last % kProcessSlots;
    for (unsigned i = 0; i < kProcessSlots; ++i) {
      process = (process + 1) % kProcessSlots;
      if (process == except) continue;
      Word64& part = slot.parts[process];
      Bits now = part.load();
      while (Base::waiters(now) > given(now)) {
        if (Base::change(part, now, now + Base::kOne)) return static_cast<ProcessSlot>(process);
      }
    }
    return kNoProcess;
  }

  /// Forgets the waiters of the dead process, and calls `give()` for each of its admissions. An admission leaves the
  /// part after another process has got it. Ends early when `give()` returns false, because there is no other waiter.
  template <class Give>
  static void passOnGiven(GateSlot& slot, ProcessSlot dead, Give&& give) noexcept {
    Word64& part = slot.parts[dead];
    Bits left = part.load();
    // The loop is bounded, because the part may be corrupt.
    for (int i = 0; i < kMostGiven && left != 0; ++i) {
      // With as many admissions as waiters, the dead process gets no further admission.
      const Bits rest = Base::pair(given(left), given(left));
      if (left != rest) {
        if (Base::change(part, left, rest)) left = rest;
        continue;
      }
      if (!give()) break;
      P::step(Step::cleaned);
      if (part.compare_exchange_strong(left, left - Base::kOne - 1)) left -= Base::kOne + 1;
    }
    part.store(0);
    P::step(Step::cleaned);
  }

 private:
  static constexpr int kMostGiven = 1 << 20;
};

}  // namespace boxoffice::host
