// A condition variable of scope host. Its mutex has scope host, too. The caller releases the mutex once its waiter is
// queued, and acquires it again once the waiter is admitted.
//
//   word   the process that was notified last: a hint, for turns
//   part   see admission_gate.h
//
//   notify     gives a notification to a waiting process, round robin; notifyAll gives one to every waiter
//   returned   the waiter has held the mutex again and released it, and so accepts its notification
//
// A process that is killed in notifyAll() may have notified the waiters of only some processes.
//
// Invariant: a notification stays in a part until its waiter has held and released the mutex again. So it is not lost
// with a process that dies before it has acted on it.
#pragma once

#include "host/admission_gate.h"

namespace boxoffice::host {

template <class P>
class BasicHostCondition : public AdmissionGate<P, BasicHostCondition<P>> {
  using Base = AdmissionGate<P, BasicHostCondition<P>>;
  using typename Base::Bits;
  using typename Base::Visit;
  friend Base;
  friend HostGate<P, BasicHostCondition<P>>;

 public:
  /// Queues the waiter. The caller still holds the mutex, so a notification that follows its release finds the waiter.
  void enter(Waiter& w) {
    Visit v(*this);
    v.bucket.obtainQueue().enter(w);
    Base::count(v);
    P::step(Step::joined);
  }

  /// Admits the waiter that has waited longest in the process whose turn it is.
  void notifyOne() {
    Visit v(*this);
    notifyOther(v);
    advance(v);
  }

  /// Admits all waiters.
  void notifyAll() {
    Visit v(*this);
    for (unsigned process = 1; process <= kMaxProcess; ++process) {
      Word64& part = this->slot_.parts[process];
      Bits now = part.load();
      while (Base::waiters(now) > Base::given(now)) {
        if (!Base::change(part, now, Base::pair(Base::waiters(now), Base::lower(now)))) continue;
        if (process != v.me) v.notifications.add(static_cast<ProcessSlot>(process));
        break;
      }
    }
    advance(v);
  }

  /// Called for an admitted waiter when it has released the mutex after its wait.
  void returned() noexcept { Base::accepted(); }

  static void evict(std::byte* at, ProcessSlot dead) noexcept {
    GateSlot& slot = Base::slotAt(at);
    Base::passOnGiven(slot, dead, [&] { return give(slot, dead) != kNoProcess; });
  }

 private:
  static ProcessSlot give(GateSlot& slot, ProcessSlot except) noexcept {
    const ProcessSlot to = Base::giveBehind(slot, static_cast<unsigned>(slot.word.load()), except);
    if (to != kNoProcess) slot.word.store(to);
    return to;
  }

  void notifyOther(Visit& v) noexcept {
    const ProcessSlot to = give(this->slot_, kNoProcess);
    if (to != kNoProcess && to != v.me) v.notifications.add(to);
  }

  void admitOne() { notifyOne(); }

  void advance(Visit& v) noexcept {
    while (Waiter* const w = v.head()) {
      if (!Base::isDue(v, v.part.load())) return;
      v.letIn(*w);
    }
  }
};

}  // namespace boxoffice::host
