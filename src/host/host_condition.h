// A condition variable of scope host. Its mutex is one of scope host, which the caller releases once its waiter is
// queued, and acquires again once the waiter is admitted.
//
//   word   the process that was notified last: a hint, for turns
//   part   see admission_gate.h
//
//   notify     gives a notification to a waiting process, round robin; to every waiter of every process by notifyAll
//   returned   the waiter has held the mutex again, and so accepts its notification
//
// A process that is killed in notifyAll() has notified the waiters of some processes.
//
// Invariant: a notification is in a part until the hold of the mutex ends that its waiter returned to. So it is not lost
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

  /// Called for an admitted waiter: the hold of the mutex that it returned to is over.
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
