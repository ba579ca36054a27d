// One process's part of a read-write lock of scope host: the number of its agents that read, which only this
// process knows; the bit that tells other processes that it reads; and its claim to upgrade (host_rw_lock.h).
#pragma once

#include <algorithm>

#include "host/host_mutex.h"
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
  static constexpr std::uint32_t kUntold = 1U << 7;  ///< of RWLockSlot::abandoned: no process slot
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

  /// Adds a reader of this process. Returns false when an upgrade is under way.
  bool join(Visit& v) noexcept {
    std::uint32_t& reads = P::reads(this);
    if (reads == 0) {
      slot().readers.add(v.me);
      P::step(Step::joined);
      if (slot().upgrader.load() != 0) {
        part(v);
        return false;
      }
    }
    ++reads;
    return true;
  }

  /// Ends up to `count` reads of this process, and returns how many.
  std::uint32_t endReads(Visit& v, std::uint32_t count) noexcept {
    std::uint32_t& reads = P::reads(this);
    std::uint32_t back = 0;
    if (!writesUpgraded(v.me)) back = std::min(count, reads);
    reads -= back;
    if (back > 0 && reads == 0) part(v);
    return back;
  }

  /// Clears the bit of this process after its last read.
  void part(Visit& v) noexcept {
    untell(slot(), v.me, 0);
    slot().readers.remove(v.me);
    P::step(Step::parted);
    Base::notifyOwner(v);
    const std::uint32_t claim = slot().upgrader.load();
    if (claim != 0 && !claimedBy(claim, v.me)) v.notifications.add(claim & kProcessMask);
  }

  /// Ends the record that this process was told of a death: that death counts as handled (`left` is 0), or as kUntold.
  static void untell(RWLockSlot& slot, std::uint32_t process, std::uint32_t left) noexcept {
    slot.abandoned.compare_exchange_strong(process, left);
  }

  void tell(Waiter& w, ProcessSlot me) noexcept {
    std::uint32_t untold = slot().abandoned.load();
    w.abandoned = untold == kUntold && slot().abandoned.compare_exchange_strong(
                                           untold, w.ask == Rules::kRead ? me : kNoProcess);
  }
};

}  // namespace boxoffice::host
