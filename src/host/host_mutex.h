// A mutex of scope host: the owner of the word (owner_word.h) holds it. JavaScript makes the steps that
// owner_word.h marks; a native thread makes the same ones.
//
//   free ──take──▶ held ──unlock──▶ free; or held by the next waiter of this process; or owned by the next process
//                   │
//                   └─ its thread or process dies ──▶ the same, and `abandoned`: the next holder is told
//
// Mutual exclusion: the process slot in the word leaves 0 by a compare-and-swap from 0, or by a hand-off of
// the owning process. It returns to 0 only by that process, or by evict when the process is dead.
#pragma once

#include <algorithm>

#include "host/host_lock.h"

namespace boxoffice::host {

/// Returns `id`. Throws Misuse(badArgument) if a slot cannot hold it.
inline AgentId checkedHostAgent(AgentId id) {
  if (id - 1 >= OwnerWord::kMaxAgent)
    throwMisuse(Fault::badArgument, "this is not the id of an agent");
  return id;
}

template <class P>
class BasicHostMutex : public HostLock<P, BasicHostMutex<P>, MutexSlot> {
  using Base = HostLock<P, BasicHostMutex<P>, MutexSlot>;
  using typename Base::Visit;
  friend Base;
  friend QueuedLock<P, BasicHostMutex<P>>;

 public:
  // As in BasicMutex; an agent's id is at most OwnerWord::kMaxAgent.

  /// Throws Misuse(notHolder) and changes nothing when `me` does not hold the mutex.
  void unlock(AgentId me = P::agent()) {
    OwnerWord::Bits held = OwnerWord::held(P::process(this), me).bits();
    if (me != kNoAgent && word().compare_exchange_strong(held, 0)) return;
    Visit v(*this);
    if (!Base::giveBack(v, me, false)) {
      throwMisuse(Fault::notHolder, "unlock of a mutex that the caller does not hold");
    }
  }

  /// Unlocks for an agent of this process that died, and tells the next holder. Returns false when `dead` does not
  /// hold the mutex.
  bool abandon(AgentId dead) {
    Visit v(*this);
    return Base::giveBack(v, dead, true);
  }

  /// How long the holder may still pass the mutex on by itself, ahead of the other waiters. Negative if one of them
  /// is strict.
  std::chrono::nanoseconds patience() const {
    const OwnerWord t = Base::owner();
    std::chrono::nanoseconds left = t.isEmpty() ? kPatience : Base::patience(t);
    auto bucket = P::lot().open(this);
    if (bucket.empty()) return left;
    const WaitQueue& queue = bucket.queue();
    if (!queue.head()->mayBeOvertaken) return std::chrono::nanoseconds(-1);
    const Deadline now = P::now();
    if (queue.patience <= now) return std::min(left, std::chrono::nanoseconds(0));
    return std::min<std::chrono::nanoseconds>(left, queue.patience - now);
  }

  /// The agent of this process that holds the mutex; kNoAgent when none does.
  AgentId owner() const noexcept {
    const OwnerWord t = Base::owner();
    return t.process() == P::process(this) ? t.agent() : kNoAgent;
  }
  bool isLocked() const noexcept { return !Base::owner().isFree(); }

  /// Calls `use(process)` for the process that holds the mutex, if any: a snapshot, for listings.
  template <class Use>
  void eachHolder(Use&& use) const {
    const OwnerWord t = Base::owner();
    if (t.agent() != kNoAgent && !t.isFree()) use(t.process());
  }

  // These take the address of any slot, whether this process uses it or not.

  /// Undoes what a dead process has left in the slot (segment.h, Evict).
  static void evict(std::byte* slot, ProcessSlot dead) noexcept {
    Base::evictOwner(Base::slotAt(slot).head, dead, true);
  }
  /// Whether the lock is free, with no death to report, and no minHold under way.
  static bool isUnused(const std::byte* at, std::int64_t) noexcept {
    const MutexSlot& slot = Base::slotAt(at);
    if (Base::isIdle(slot.head)) return true;
    const std::uint64_t rest = slot.rest.load();
    const bool wasReleased = (rest & kReleased) != 0 && Base::isPast(rest >> 1);
    return wasReleased && slot.head.owner.load() == OwnerWord::kAbandoned &&
           slot.head.overflow.empty();
  }
  /// As isUnused, but there may be a death to report.
  static bool isForgettable(const std::byte* at, std::int64_t start) noexcept {
    const MutexSlot& slot = Base::slotAt(at);
    if (isUnused(at, start)) return true;
    return slot.head.owner.load() == OwnerWord::kAbandoned && slot.head.overflow.empty() &&
           Base::isPast(slot.rest.load() >> 1);
  }
  /// Puts a zeroed, unused or forgettable slot into its initial state.
  static void reset(std::byte* at, std::int64_t) noexcept {
    MutexSlot& slot = Base::slotAt(at);
    slot.head.owner.store(0);
    slot.rest.store(0);
  }

 private:
  static void check(const Waiter& w) { checkedHostAgent(w.agent); }
  static bool isApart(const Waiter&) noexcept { return false; }
  void look(Visit&) noexcept {}
  void gone(Visit&, Waiter&) noexcept {}

  Word64& word() noexcept { return this->slot_.head.owner; }

  /// Enters if `w` may overtake the queue. It may not if older waiters of its agent can be in the queue.
  bool tryBefore(Waiter& w) noexcept { return w.mayOvertake && tryEnter(w); }

  bool tryEnter(Waiter& w) noexcept {
    const ProcessSlot me = P::process(this);
    OwnerWord::Bits seen = word().load();
    for (;;) {
      const OwnerWord t(seen);
      if (!t.isFree() || t.has(OwnerWord::kStrict)) return false;
      if (word().compare_exchange_weak(
              seen, t.ownedBy(me, w.agent).with(OwnerWord::kAbandoned, false).bits())) {
        w.abandoned = t.has(OwnerWord::kAbandoned);
        return true;
      }
    }
  }

  bool admit(Visit& v, OwnerWord t, Waiter& w) noexcept {
    const OwnerWord to = t.ownedBy(v.me, w.agent).with(OwnerWord::kAbandoned, false).without(v.me);
    if (Base::change(v, t, to, Base::othersWait(v, w))) {
      w.abandoned = t.has(OwnerWord::kAbandoned);
      Base::letIn(v, w);
    }
    return true;
  }
};

}  // namespace boxoffice::host
