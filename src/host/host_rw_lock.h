// A read-write lock of the processes of a machine: ownership (ownership.h) is a hand-off queue. Each reader and each
// writer goes through it, in order; a writer stays in it.
//
//                                  a reader: nobody upgrades ─▶ bit set, ownership passed on ─▶ reads
//   waits ──▶ its process's ownership ─┤
//                                  a writer: nobody reads ────▶ ownership kept for its agent ─▶ writes
//
//   reads ──▶ claim (the only one that reads at last) ──▶ writes, upgraded; its bit stays ──▶ reads
//             no claim yet, or that of a dead process
//
//   readers   a bit for each process that reads; how many of its agents do, only it knows (P::part)
//   upgrader  31 .. 8 its agent | 7 writes | 6 .. 0 its process slot; 0: nobody upgrades
//   ownership      (s, agent): that agent writes, having come through ownership
//   abandoned a process died writing; the next one in is told. A reader that dies has left nothing half written;
//   told      but this process reads, and has been told of such a death: if it dies, the next one is told again
//
// Why nobody reads while one writes:
//   - ownership: a reader's bit is set only by who has ownership (or writes), and who wants to write looks at
//     the bits while it has ownership.
//   - an upgrade: "claim, then look at the bits" against "set the bit, then look at the claim", both
//     sequentially consistent: one of the two sees the other, and the reader gives way.
// Who keeps ownership waiting is notified by whoever clears a bit or a claim, after that; the upgrader likewise.
//
#pragma once

#include "host/host_rw_part.h"

namespace boxoffice::host {

template <class P>
class BasicHostRWLock : public HostRWPart<P, BasicHostRWLock<P>> {
  using Base = HostRWPart<P, BasicHostRWLock<P>>;
  using typename Base::Rules;
  using typename Base::Visit;
  friend HostLock<P, BasicHostRWLock<P>, RWLockSlot>;

 public:
  using Upgrade = typename BasicRWLock<Platform>::Upgrade;

  // As BasicRWLock's; an agent's id is at most OwnerWord::kMaxAgent, for readers, too.

  Entry lockRead(AgentId me = P::agent()) { return lockReadUntil(kNever, me); }
  Entry lockWrite(AgentId me = P::agent()) { return lockWriteUntil(kNever, me); }
  Entry lockReadUntil(Deadline deadline, AgentId me = P::agent()) {
    return block(Rules::kRead, deadline, me);
  }
  Entry lockWriteUntil(Deadline deadline, AgentId me = P::agent()) {
    return block(Rules::kWrite, deadline, me);
  }
  Entry tryLockRead(AgentId me = P::agent()) { return block(Rules::kRead, Deadline::min(), me); }
  Entry tryLockWrite(AgentId me = P::agent()) { return block(Rules::kWrite, Deadline::min(), me); }

  /// Throws Misuse(notHolder) when nobody of this process reads.
  void unlockRead(AgentId = P::agent()) {
    if (abandonReads(1) == 0) {
      throw Misuse(Fault::notHolder, "read unlock of a lock that nobody reads");
    }
  }

  /// Throws Misuse(notHolder) and changes nothing when `me` is not the writer.
  void unlockWrite(AgentId me = P::agent()) {
    if (!endWrite(me, false)) throw notWriter();
  }

  /// Throws Misuse(notHolder) and changes nothing when `me` is not the writer. `tell`: as in abandonReads.
  void downgrade(AgentId me = P::agent(), bool tell = false) {
    Visit v(*this);
    if (writer() != me || me == kNobody) throw notWriter();
    if (tell) slot().abandoned.store(1);
    if (writesUpgraded(v.me)) {
      unclaim(v);
      Base::advance(v);
    } else {
      join(v);
      Base::giveBack(v, me, false);
    }
  }

  Entry upgrade(AgentId me = P::agent()) { return upgradeUntil(kNever, me); }
  Entry upgradeUntil(Deadline deadline, AgentId me = P::agent()) {
    Waiter w;
    w.agent = me;
    return Base::entry(upgradeBlocking(w, deadline) == Upgrade::granted, w);
  }

  /// For an agent of this process that died writing: the next one in is told. False when it did not write.
  bool abandon(AgentId dead) { return endWrite(dead, true); }

  /// Gives back `count` reads of this process, or as many as there are. How many. `tell`: who read died before it
  /// could be told of a death itself, so the next one in is.
  std::uint32_t abandonReads(std::uint32_t count, bool tell = false) {
    Visit v(*this);
    if (tell) slot().abandoned.store(1);
    const std::uint32_t back = endReads(v, count);
    Base::advance(v);
    return back;
  }

  /// Nobody of this process is invited and still on its way: there is nothing to hurry.
  void hurry(AgentId = P::agent()) noexcept {}

  /// How many read: agents of this process, and other processes.
  std::uint32_t readers() const {
    const ProcessSlot me = P::process(this);
    auto bucket = P::lot().open(this);
    if (isUpgraded()) return 0;
    ProcessSet others(slot().readers);
    others.remove(me);
    return P::reads(this) + static_cast<std::uint32_t>(others.size());
  }
  /// Whether anybody writes.
  bool isWritten() const noexcept { return isUpgraded() || Base::owner().agent() != kNobody; }
  bool isWrittenBy(AgentId agent) const noexcept { return agent != kNobody && writer() == agent; }
  /// The agent of this process that writes; kNobody when there is none.
  AgentId writer() const noexcept {
    const ProcessSlot me = P::process(this);
    if (writesUpgraded(me)) return claimant(slot().upgrader.load());
    const OwnerWord t = Base::owner();
    return t.process() == me ? t.agent() : kNobody;
  }

  /// Calls `use(process slot)` for each process that writes or reads: as it is at this moment, for people.
  template <class Use>
  void eachHolder(Use&& use) const {
    const OwnerWord t = Base::owner();
    if (t.agent() != kNobody && !t.isFree()) use(t.process());
    ProcessSet(slot().readers).each(use);
  }

  Upgrade upgradeBlocking(Waiter& w, Deadline deadline) {
    auto& parker = P::parker();
    w.parker = &parker;
    const bool mayWait = deadline == kNever || deadline > P::now();
    const Upgrade start = enterUpgrade(w, mayWait ? Upgrade::waiting : Upgrade::late);
    if (start != Upgrade::waiting) return start;
    if (!parker.waitUntil(deadline)) {
      if (Base::leave(w) == Leave::left) return Upgrade::late;
      parker.take();
    }
    Base::settle(w, Wake::admitted);
    return Upgrade::granted;
  }

  Upgrade enterUpgrade(Waiter& w, Upgrade otherwise = Upgrade::waiting) {
    checkedHostAgent(w.agent);
    w.ask = Rules::kUpgrade;
    Visit v(*this);
    if (readsNone(v.me)) throw Misuse(Fault::notHolder, "upgrade of a lock that nobody reads");
    if (otherwise != Upgrade::waiting && !readsAlone(v.me)) {
      return othersUpgrade(v.me) ? Upgrade::refused : otherwise;
    }
    WaitQueue& queue = v.bucket.obtainQueue();
    queue.enterFirst(w);  // may throw, so before the claim
    if (!claim(v.me, w.agent)) {
      queue.leave(w);
      return Upgrade::refused;
    }
    P::step(Step::claimed);
    v.entering = &w;
    look(v);
    if (v.in) return Upgrade::granted;
    if (otherwise == Upgrade::waiting) return otherwise;
    queue.leave(w);
    gone(v, w);
    return otherwise;
  }

  static void evict(std::byte* at, ProcessSlot dead) noexcept {
    RWLockSlot& slot = Base::slotAt(at);
    std::uint32_t claim = slot.upgrader.load();
    const OwnerWord t(slot.head.owner.load());
    const bool wrote = claimedBy(claim, dead) && (claim & kWrites) != 0;
    const bool told = slot.told.load() == dead;
    if (wrote || told || (t.process() == dead && t.agent() != kNobody)) slot.abandoned.store(1);
    P::step(Step::cleaned);
    if (told) slot.told.store(0);
    // Unless another process has taken it over by now.
    if (claimedBy(claim, dead)) slot.upgrader.compare_exchange_strong(claim, 0);
    slot.readers.remove(dead);
    P::step(Step::cleaned);
    Base::evictOwner(slot.head, dead, false);
  }

  static bool isUnused(const std::byte* at, std::int64_t) noexcept {
    const RWLockSlot& slot = Base::slotAt(at);
    return Base::isIdle(slot.head) && slot.readers.empty() && slot.upgrader.load() == 0 &&
           slot.abandoned.load() == 0 && slot.told.load() == 0;
  }
  static void reset(std::byte*, std::int64_t) noexcept {}

 private:
  using Base::claimant;
  using Base::claimedBy;
  using Base::claimOf;
  using Base::endReads;
  using Base::isUpgraded;
  using Base::join;
  using Base::kProcessMask;
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

  /// Whether an upgrade, of a process that lives, is under way.
  bool othersUpgrade(ProcessSlot me) const noexcept {
    const std::uint32_t claim = slot().upgrader.load();
    return claim != 0 && (claimedBy(claim, me) || !P::ifDead(this, claim & kProcessMask, [] {}));
  }

  /// Claims the upgrade for that agent. A claim of a dead process is taken over before that process has been cleaned
  /// up after: its reader's bit goes with that, and notifies us. False when another upgrade is under way.
  bool claim(ProcessSlot me, AgentId agent) noexcept {
    const std::uint32_t ours = claimOf(me, agent);
    std::uint32_t seen = 0;
    const auto take = [&] { return slot().upgrader.compare_exchange_strong(seen, ours); };
    if (take()) return true;
    if (claimedBy(seen, me)) return false;
    bool taken = false;
    // A dead writer's claim stays: cleaning up tells of that death.
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

  /// Lets in whoever of ours upgrades, once nobody else reads.
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
    if (writer() != agent || agent == kNobody) return false;
    if (isDead) slot().abandoned.store(1);
    if (!writesUpgraded(v.me)) return Base::giveBack(v, agent, false);
    // Its bit last: a process that dies in between has left nothing half written.
    unclaim(v);
    P::reads(this) = 0;
    part(v);
    Base::advance(v);
    return true;
  }

  Entry block(std::uint32_t mode, Deadline deadline, AgentId me) {
    Waiter w;
    w.agent = me;
    w.ask = mode;
    return Base::entry(Base::enterBlocking(w, deadline), w);
  }
};

}  // namespace boxoffice::host
