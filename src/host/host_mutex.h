// A mutex of the processes of a machine: who has the turn (turn.h) holds it. JavaScript makes the steps of
// the word that turn.h marks; a native thread the same ones.
//
//   free ──take──▶ held ──unlock──▶ free; or held by the next of our line; or the next process's turn
//                   │
//                   └─ its thread, or its process, dies ──▶ the same, and `abandoned`: the next is told
//
// Mutual exclusion: the seat in the word leaves 0 by a compare-and-swap from 0, or by a hand-off of its
// owner's process, and returns to 0 only by that process, or by evict when it is dead.
#pragma once

#include "host/host_office.h"

namespace boxoffice::host {

/// `id`, if a slot can hold it; else Misuse(badArgument).
inline AgentId checkedHostAgent(AgentId id) {
  if (id - 1 >= Turn::kMaxAgent) throw Misuse(Fault::badArgument, "this is not the id of an agent");
  return id;
}

template <class P>
class BasicHostMutex : public HostOffice<P, BasicHostMutex<P>, MutexSlot> {
  using Base = HostOffice<P, BasicHostMutex<P>, MutexSlot>;
  using typename Base::Visit;
  friend Base;

 public:
  // As BasicMutex's; an agent's id is at most Turn::kMaxAgent.

  Entry lock(AgentId me = P::agent()) { return lockUntil(kNever, me); }
  Entry tryLock(AgentId me = P::agent()) {
    Waiter w;
    w.agent = checkedHostAgent(me);
    return Base::entry(tryEnter(w), w);
  }
  Entry lockFor(std::chrono::nanoseconds timeout, AgentId me = P::agent()) {
    return lockUntil(deadlineIn(timeout), me);
  }
  Entry lockUntil(Deadline deadline, AgentId me = P::agent()) {
    Waiter w;
    w.agent = me;
    return Base::entry(Base::enterBlocking(w, deadline), w);
  }

  /// Throws Misuse(notHolder) and changes nothing when `me` does not hold it.
  void unlock(AgentId me = P::agent()) {
    Turn::Bits held = Turn::held(P::seat(this), me).bits();
    if (me != kNobody && word().compare_exchange_strong(held, 0)) return;
    Visit v(*this);
    v.leaver = me;
    if (!Base::giveBack(v, me, false)) {
      throw Misuse(Fault::notHolder, "unlock of a mutex that the caller does not hold");
    }
  }

  /// For an agent of this process that died holding it: the next holder is told. False when it does not.
  bool abandon(AgentId dead) {
    Visit v(*this);
    return Base::giveBack(v, dead, true);
  }

  /// The agent of this process that holds it; kNobody when there is none.
  AgentId owner() const noexcept {
    const Turn t = Base::turn();
    return t.seat() == P::seat(this) ? t.agent() : kNobody;
  }
  bool isHeldBy(AgentId agent) const noexcept { return agent != kNobody && owner() == agent; }
  bool isLocked() const noexcept { return !Base::turn().isFree(); }

  /// Calls `use(seat)` for the process that holds it, if one does: as it is at this moment, for people.
  template <class Use>
  void eachHolder(Use&& use) const {
    const Turn t = Base::turn();
    if (t.agent() != kNobody && !t.isFree()) use(t.seat());
  }

  // For the slot at an address, whether this process uses it or not.

  /// Undoes what a dead process has left there (segment.h, Evict).
  static void evict(std::byte* slot, Seat dead) noexcept {
    Base::evictTurn(Base::slotAt(slot).head, dead, true);
  }
  /// Whether it is as at first, but for its key.
  static bool rests(const std::byte* slot, std::int64_t) noexcept {
    return Base::isIdle(Base::slotAt(slot).head);
  }
  /// Makes of zeros, or of one that rests, what it is at first.
  static void reset(std::byte*, std::int64_t) noexcept {}

 private:
  static void check(const Waiter& w) { checkedHostAgent(w.agent); }
  static bool isApart(const Waiter&) noexcept { return false; }
  void look(Visit&) noexcept {}
  void gone(Visit&, Waiter&) noexcept {}

  Word64& word() noexcept { return this->slot_.head.turn; }

  /// Before standing in line: unless others of the same agent may stand there.
  bool tryBefore(Waiter& w) noexcept { return w.mayOvertake && tryEnter(w); }

  bool tryEnter(Waiter& w) noexcept {
    const Seat me = P::seat(this);
    Turn::Bits seen = word().load();
    for (;;) {
      const Turn t(seen);
      if (!t.isFree() || t.has(Turn::kStrict)) return false;
      if (word().compare_exchange_weak(
              seen, t.ownedBy(me, w.agent).with(Turn::kAbandoned, false).bits())) {
        w.abandoned = t.has(Turn::kAbandoned);
        return true;
      }
    }
  }

  bool admit(Visit& v, Turn t, Waiter& head) noexcept {
    Waiter& w = Base::preferred(v, head);
    const Turn to = t.ownedBy(v.me, w.agent).with(Turn::kAbandoned, false).without(v.me);
    if (Base::change(v, t, to, Base::othersWait(v, w))) {
      w.abandoned = t.has(Turn::kAbandoned);
      Base::letIn(v, w);
    }
    return true;
  }
};

}  // namespace boxoffice::host
