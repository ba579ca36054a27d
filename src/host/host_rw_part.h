// The part that one process has in a read-write lock of scope host: its reads, its ownership, and what becomes of them
// when they are stolen.
//
//   nothing ──▶ reads n (its bit is set) or writes (ownership is its agent's) ──▶ nothing
//                        │ not in the slot any more: stolen
//                        └──▶ nothing, in the next era
//
// A theft (only of locks that nobody upgrades) makes ownership the thief's, whoever had it, by one
// compare-and-swap; then it clears the bits of all who read, and notifies those that it took anything from.
//   - Who sets its reader's bit looks at ownership after that, and who steals looks at the bits after it has the
//     ownership, both sequentially consistent: the reader gives way, or its bit is cleared.
//   - Nobody writes down that a process was robbed: it sees that what it holds is not in the slot (notice),
//     whenever it holds the bucket, and before it lets in another. Then a new era of this process begins; each
//     grant knows its own, so that what is left of an older one takes nothing from a newer.
//   - A thief that is killed has robbed those whose part is gone from the slot, and no others. One that stood still
//     may clear a bit that is newer than its theft: then that reader has been robbed, and sees it all the same.
#pragma once

#include <algorithm>

#include "host/host_mutex.h"
#include "host/own_part.h"
#include "locks/rw_lock.h"

namespace boxoffice::host {

template <class P, class Self>
class HostRWPart : public HostLock<P, Self, RWLockSlot> {
  using Base = HostLock<P, Self, RWLockSlot>;

 protected:
  using typename Base::Visit;
  using Rules = RWLockRules;

  static constexpr std::uint32_t kWrites = 1U << 7;
  static constexpr std::uint32_t kProcessMask = kWrites - 1;
  static constexpr int kAgentAt = 8;

  static std::uint32_t claimOf(ProcessSlot process, AgentId agent) noexcept {
    return agent << kAgentAt | process;
  }
  static AgentId claimant(std::uint32_t claim) noexcept { return claim >> kAgentAt; }
  static bool claimedBy(std::uint32_t claim, ProcessSlot process) noexcept {
    return claim != 0 && (claim & kProcessMask) == process;
  }

  RWLockSlot& slot() noexcept { return this->slot_; }
  const RWLockSlot& slot() const noexcept { return this->slot_; }

  bool isUpgraded() const noexcept { return (slot().upgrader.load() & kWrites) != 0; }
  bool writesUpgraded(ProcessSlot me) const noexcept {
    const std::uint32_t claim = slot().upgrader.load();
    return claimedBy(claim, me) && (claim & kWrites) != 0;
  }

  /// One more of ours reads. False: another upgrades, or has stolen ownership.
  bool join(Visit& v) noexcept {
    std::uint32_t& reads = P::part(this).reads;
    if (reads == 0) {
      slot().readers.add(v.me);
      P::step(Step::joined);
      if (slot().upgrader.load() != 0 || Base::owner().process() != v.me) {
        part(v);
        return false;
      }
    }
    ++reads;
    return true;
  }

  /// How many reads of ours have ended, of `count`.
  std::uint32_t endReads(Visit& v, std::uint32_t count) noexcept {
    std::uint32_t& reads = P::part(this).reads;
    std::uint32_t back = 0;
    if (!writesUpgraded(v.me)) back = std::min(count, reads);
    reads -= back;
    if (back > 0 && reads == 0) part(v);
    return back;
  }

  /// The last of ours has read.
  void part(Visit& v) noexcept {
    if (slot().told.load() == v.me) slot().told.store(0);
    slot().readers.remove(v.me);
    P::step(Step::parted);
    Base::notifyOwner(v);
    const std::uint32_t claim = slot().upgrader.load();
    if (claim != 0 && !claimedBy(claim, v.me)) v.notifications.add(claim & kProcessMask);
  }

  /// What we held and is not in the slot any more has been stolen.
  void notice(Visit& v) noexcept {
    OwnPart& mine = P::part(this);
    const OwnerWord t = Base::owner();
    const bool writes = mine.writer == kNobody || (t.process() == v.me && t.agent() == mine.writer);
    const bool reads = mine.reads == 0 || slot().readers.has(v.me);
    if (writes && reads) return;
    lose(v);
    // Of one who was told of a death and has been robbed since, nobody knows what it has mended.
    std::uint32_t me = v.me;
    if (slot().told.compare_exchange_strong(me, 0)) slot().abandoned.store(1);
    if (slot().readers.has(v.me)) part(v);
  }

  void lose(Visit& v) noexcept {
    OwnPart& mine = P::part(this);
    ++mine.lost;
    mine.reads = 0;
    mine.writer = kNobody;
    v.notifications.add(
        v.me);  // whoever is notified of our wake-up tells our agents: see takeTheft
  }

  /// Ownership becomes the thief's. Who had it without an agent inside waits on, as the first if there is room.
  /// False: look again.
  bool seize(Visit& v, const Waiter& w) noexcept {
    const OwnerWord t = Base::owner();
    const ProcessSlot other = t.process() == v.me ? kNoProcess : t.process();
    OwnerWord to = t.ownedBy(v.me, w.agent).without(v.me);
    if (other != kNoProcess && t.agent() == kNobody) {
      to = to.without(other);
      if (!to.isFull()) to = to.queuedFirst(other);
    }
    if (!Base::change(v, t, to, Base::othersWait(v, w))) return false;
    P::step(Step::written);
    if (other != kNoProcess) v.notifications.add(other);
    return true;
  }

  void robReaders(Visit& v, Waiter& w) noexcept {
    ProcessSet(slot().readers).each([&](ProcessSlot process) {
      slot().readers.remove(process);
      P::step(Step::parted);
      if (process != v.me) v.notifications.add(process);
    });
    // Ownership may be another's by now, who waits for these readers.
    Base::notifyOwner(v);
    // As in notice(): now it is the thief who is told.
    if (slot().told.exchange(0) != 0) w.abandoned = true;
  }

  void tell(Waiter& w, ProcessSlot me) noexcept {
    w.era = P::part(this).lost;
    w.abandoned = false;
    if (slot().abandoned.load() == 0) return;
    if (w.ask == Rules::kRead) slot().told.store(me);
    w.abandoned = slot().abandoned.exchange(0) != 0;
  }
};

}  // namespace boxoffice::host
