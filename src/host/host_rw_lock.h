// A read-write lock of scope host, over ownership (owner_word.h, handoff_queue.h). Each reader and each
// writer goes through ownership, in order; a writer keeps it.
//
//                                      a reader: no upgrade under way ─▶ bit set, ownership passed on ─▶ reads
//   waits ──▶ its process is the owner ─┤
//                                      a writer: no process reads ─────▶ ownership kept for its agent ─▶ writes
//
//   reads ──▶ claim (until it is the only reader) ──▶ writes, upgraded; its bit stays ──▶ reads
//             if there is no claim, or only a dead process's claim
//
//   readers   a bit for each process that reads; only the process knows how many of its agents do (P::reads)
//   upgrader  31 .. 8 its agent | 7 writes | 6 .. 0 its process slot; 0: no upgrade under way
//   owner     (s, agent): that agent writes, and has come through ownership
//   abandoned 0
//             kUntold: a process died writing; the next holder is told. A dead reader has left nothing half written
//             a process slot: this process reads, and was told of such a death. If it dies, too, the next holder is
//             told. One word has both, because a cleaner that stores one after it has read the other may store
//             a report that a holder has taken meanwhile
//
// Why no reader reads while a writer writes:
//   - Ownership: only the owner (or writer) sets a reader's bit, and a writer looks at the bits while it is
//     the owner.
//   - An upgrade: "claim, then look at the bits" against "set the bit, then look at the claim", both
//     sequentially consistent. One of the two sees the other, and the reader gives way.
// A process that clears a bit or a claim notifies the waiting owner, or the upgrader, after that.
#pragma once

#include "host/host_rw_part.h"

namespace boxoffice::host {

template <class P>
class BasicHostRWLock : public HostRWPart<P, BasicHostRWLock<P>> {
  using Base = HostRWPart<P, BasicHostRWLock<P>>;
  using typename Base::Rules;
  using typename Base::Visit;
  friend HostLock<P, BasicHostRWLock<P>, RWLockSlot>;
  friend QueuedLock<P, BasicHostRWLock<P>>;

 public:
  using Upgrade = boxoffice::Upgrade;

  // As in BasicRWLock; an agent's id is at most OwnerWord::kMaxAgent, for readers too.

  /// Throws Misuse(notHolder) when no agent of this process reads.
  void unlockRead(AgentId = P::agent()) {
    if (abandonReads(1) == 0) {
      throwMisuse(Fault::notHolder, "read unlock of a lock without readers");
    }
  }

  /// Throws Misuse(notHolder) and changes nothing when `me` is not the writer.
  void unlockWrite(AgentId me = P::agent()) {
    if (!endWrite(me, false)) throw notWriter();
  }

  /// Throws Misuse(notHolder) and changes nothing when `me` is not the writer. `tell`: as in abandonReads.
  void downgrade(AgentId me = P::agent(), bool tell = false) {
    Visit v(*this);
    if (writer() != me || me == kNoAgent) throw notWriter();
    if (tell) slot().abandoned.store(kUntold);
    if (writesUpgraded(v.me)) {
      unclaim(v);
      Base::advance(v);
    } else {
      join(v);
      Base::giveBack(v, me, false);
    }
  }

  /// Unlocks for an agent of this process that died writing, and tells the next holder. Returns false when `dead` did
  /// not write.
  bool abandon(AgentId dead) { return endWrite(dead, true); }

  /// Ends up to `count` reads of this process, and returns how many. With `tell` the next holder is told of a death:
  /// a reader that died had been granted an abandoned lock, and had not learnt of it.
  std::uint32_t abandonReads(std::uint32_t count, bool tell = false) {
    Visit v(*this);
    if (tell) slot().abandoned.store(kUntold);
    const std::uint32_t back = endReads(v, count);
    Base::advance(v);
    return back;
  }

  /// No waiter is ever invited here, so there is nothing to hurry.
  void hurry(AgentId = P::agent()) noexcept {}

  /// The number of readers: agents of this process, plus other processes.
  std::uint32_t readers() const {
    const ProcessSlot me = P::process(this);
    auto bucket = P::lot().open(this);
    if (isUpgraded()) return 0;
    ProcessSet others(slot().readers);
    others.remove(me);
    return P::reads(this) + static_cast<std::uint32_t>(others.size());
  }
  /// Whether any agent writes.
  bool isWritten() const noexcept { return isUpgraded() || Base::owner().agent() != kNoAgent; }
  /// The agent of this process that writes; kNoAgent when none does.
  AgentId writer() const noexcept {
    const ProcessSlot me = P::process(this);
    if (writesUpgraded(me)) return claimant(slot().upgrader.load());
    const OwnerWord t = Base::owner();
    return t.process() == me ? t.agent() : kNoAgent;
  }

  /// Calls `use(process)` for each process that writes or reads: a snapshot, for listings.
  template <class Use>
  void eachHolder(Use&& use) const {
    const OwnerWord t = Base::owner();
    if (t.agent() != kNoAgent && !t.isFree()) use(t.process());
    ProcessSet(slot().readers).each(use);
  }

  Upgrade upgradeBlocking(Waiter& w, Deadline deadline) {
    return boxoffice::upgradeBlocking<P>(*this, w, deadline);
  }

  Upgrade enterUpgrade(Waiter& w, Upgrade otherwise = Upgrade::waiting) {
    checkedHostAgent(w.agent);
    w.ask = Rules::kUpgrade;
    Visit v(*this);
    if (readsNone(v.me)) throwMisuse(Fault::notHolder, "upgrade of a lock without readers");
    if (otherwise != Upgrade::waiting && !readsAlone(v.me)) {
      return othersUpgrade(v.me) ? Upgrade::refused : otherwise;
    }
    const double priority = w.priority;
    WaitQueue& queue = v.bucket.obtainQueue();
    queue.enterFirst(w);  // may throw, so before the claim
    if (!claim(v.me, w.agent)) {
      queue.leave(w);
      w.priority = priority;  // the waiter may enter anew, to write
      return Upgrade::refused;
    }
    P::step(Step::claimed);
    v.entering = &w;
    look(v);
    if (v.in) return Upgrade::granted;
    if (otherwise == Upgrade::waiting) return otherwise;
    queue.leave(w);
    w.priority = priority;
    gone(v, w);
    return otherwise;
  }

  static void evict(std::byte* at, ProcessSlot dead) noexcept {
    RWLockSlot& slot = Base::slotAt(at);
    std::uint32_t claim = slot.upgrader.load();
    const OwnerWord t(slot.head.owner.load());
    const bool wrote = claimedBy(claim, dead) && (claim & kWrites) != 0;
    if (wrote || (t.process() == dead && t.agent() != kNoAgent)) slot.abandoned.store(kUntold);
    Base::untell(slot, dead, kUntold);
    P::step(Step::cleaned);
    // Unless another process has taken the claim over by now.
    if (claimedBy(claim, dead)) slot.upgrader.compare_exchange_strong(claim, 0);
    slot.readers.remove(dead);
    P::step(Step::cleaned);
    Base::evictOwner(slot.head, dead, false);
  }

  static bool isUnused(const std::byte* at, std::int64_t) noexcept {
    const RWLockSlot& slot = Base::slotAt(at);
    if (!isForgettable(at, 0)) return false;
    return slot.abandoned.load() == 0 || (slot.writeRest.load() & kReleased) != 0;
  }
  static bool isForgettable(const std::byte* at, std::int64_t) noexcept {
    const RWLockSlot& slot = Base::slotAt(at);
    return Base::isIdle(slot.head) && slot.readers.empty() && slot.upgrader.load() == 0 &&
           Base::isPast(slot.writeRest.load() >> kRestAt) &&
           Base::isPast(slot.readRest.load() >> kRestAt);
  }
  static void reset(std::byte* at, std::int64_t) noexcept {
    RWLockSlot& slot = Base::slotAt(at);
    slot.abandoned.store(0);
    slot.writeRest.store(0);
    slot.readRest.store(0);
  }

 private:
  using Base::claimant;
  using Base::claimedBy;
  using Base::claimOf;
  using Base::endReads;
  using Base::isUpgraded;
  using Base::join;
  using Base::kProcessMask;
  using Base::kUntold;
  using Base::kWrites;
  using Base::part;
  using Base::slot;
  using Base::writesUpgraded;

  static Misuse notWriter() {
    return {Fault::notHolder, "the caller does not hold the write lock"};
  }

  static void check(const Waiter& w) { checkedHostAgent(w.agent); }
  static bool isApart(const Waiter& w) noexcept { return w.ask == Rules::kUpgrade; }

  bool tryBefore(Waiter& w) { return Base::enterInPassing(w, w.mayOvertake); }
  bool tryEnter(Waiter& w) { return Base::enterInPassing(w, true); }
  bool mayFit(const Waiter& w) const noexcept {
    return slot().upgrader.load() == 0 && (w.ask == Rules::kRead || slot().readers.empty());
  }

  bool readsNone(ProcessSlot me) const noexcept {
    return P::reads(this) == 0 || writesUpgraded(me);
  }
  bool readsAlone(ProcessSlot me) const noexcept {
    ProcessSet others(slot().readers);
    others.remove(me);
    return others.empty() && P::reads(this) == 1;
  }

  /// Whether an upgrade of a living process is under way.
  bool othersUpgrade(ProcessSlot me) const noexcept {
    const std::uint32_t claim = slot().upgrader.load();
    return claim != 0 && (claimedBy(claim, me) || !P::ifDead(this, claim & kProcessMask, [] {}));
  }

  /// Claims the upgrade for that agent. Takes over the claim of a dead process without waiting for its eviction,
  /// which later clears the dead process's reader bit and notifies this process. Returns false when another upgrade
  /// is under way.
  bool claim(ProcessSlot me, AgentId agent) noexcept {
    const std::uint32_t ours = claimOf(me, agent);
    std::uint32_t seen = 0;
    const auto take = [&] { return slot().upgrader.compare_exchange_strong(seen, ours); };
    if (take()) return true;
    if (claimedBy(seen, me)) return false;
    bool taken = false;
    // A dead writer's claim stays: its eviction reports the death.
    if ((seen & kWrites) == 0) P::ifDead(this, seen & kProcessMask, [&] { taken = take(); });
    if (taken) return true;
    seen = 0;  // it may have been cleared meanwhile
    return take();
  }

  bool admit(Visit& v, OwnerWord t, Waiter& w) noexcept {
    if (w.ask == Rules::kRead) {
      if (slot().upgrader.load() != 0 || !join(v)) return false;
    } else {
      if (slot().upgrader.load() != 0 || !slot().readers.empty()) return false;
      const OwnerWord to = t.ownedBy(v.me, w.agent).without(v.me);
      if (!Base::change(v, t, to, Base::othersWait(v, w))) return true;
      P::step(Step::written);
    }
    Base::tell(w, v.me);
    Base::letIn(v, w);
    return true;
  }

  /// Admits the upgrading reader of this process once there is no other reader.
  void look(Visit& v) noexcept {
    if (v.bucket.empty()) return;
    Waiter* const w = v.bucket.queue().head();
    if (!w || !isApart(*w) || !readsAlone(v.me)) return;
    slot().upgrader.store(claimOf(v.me, w->agent) | kWrites);
    P::step(Step::written);
    Base::tell(*w, v.me);
    Base::letIn(v, *w);
  }

  void gone(Visit& v, Waiter& w) noexcept {
    if (isApart(w)) unclaim(v);
  }

  void unclaim(Visit& v) noexcept {
    slot().upgrader.store(0);
    P::step(Step::unclaimed);
    Base::notifyOwner(v);
  }

  bool endWrite(AgentId agent, bool isDead) {
    Visit v(*this);
    if (writer() != agent || agent == kNoAgent) return false;
    if (isDead) slot().abandoned.store(kUntold);
    if (!writesUpgraded(v.me)) return Base::giveBack(v, agent, false);
    // Clear the bit last: a process that dies in between has left nothing half written.
    unclaim(v);
    P::reads(this) = 0;
    part(v);
    Base::advance(v);
    return true;
  }
};

}  // namespace boxoffice::host
