// A counting semaphore of scope host. It counts the units of each process, by process slot, so that they can be put
// back when the process dies. The units left are value - the sum of these counts.
//
//   acquire(w)   this process is the owner (owner_word.h), and w is left: held[process slot] + w, and ownership
//                is passed on. Otherwise it waits as the owner, so no process overtakes it. Within a process:
//                by priority, then first come, first served.
//   release(n)   takes n off held[process slot], then off the held of other processes; the rest is added to the value.
//                The owner looks again.
//   a death      held[dead] = 0, and `abandoned` if it held any: the next holder that keeps its units is told. If the units
//                would raise what is left above the initial value, the excess is taken off the value: the units were
//                taken as signals, or another process has put others in their place
//   minHold      JavaScript enforces it. A death adds the dead process's units to `owed`; units that it had
//                released (`resting`) are not abandoned
//
// Invariant: only the owner adds to held, so this never takes the units left below zero (setValue may).
//
// The value lies in the lower 48 bits of its word, signed. The upper bits are 0, or a mark: the process slot of a dead
// process whose excess has been taken off, and whose held is still to be set to 0. If the cleaner of that process is
// killed between these two steps, its next cleaner does the second step only. Cleaners of other processes do not,
// because a living process may have that process slot by then. A cleaner that finds the mark of another process sets no
// mark. If it is killed between the steps, its next cleaner does both, and units above the initial value are lost.
//
// The uppermost bit of held: the process is dead, and its cleaner has counted its units. A release takes none of them,
// because the cleaner would not notice, and would take the released units off the value.
//
// Memory order: "take from held, then look at ownership" against "take ownership, then look at held", both sequentially
// consistent. An owner that waits sees the release, or is notified by it.
#pragma once

#include <algorithm>

#include "host/host_lock.h"
#include "locks/weighted_semaphore.h"

namespace boxoffice::host {

template <class P>
class BasicHostSemaphore : public HostLock<P, BasicHostSemaphore<P>, SemaphoreSlot> {
  using Base = HostLock<P, BasicHostSemaphore<P>, SemaphoreSlot>;
  using typename Base::Visit;
  friend Base;
  friend QueuedLock<P, BasicHostSemaphore<P>>;

 public:
  static constexpr std::int32_t kMax = WeightedSemaphore::kMax;
  static constexpr std::int32_t kMin = WeightedSemaphore::kMin;

  // As in BasicWeightedSemaphore.

  /// Puts `weight` units back: first units that this process holds, then units that others hold, then new ones.
  /// Throws Misuse(overflow) and changes nothing when more than kMax would be left.
  void release(std::int32_t weight = 1, AgentId = P::agent()) {
    WeightedSemaphoreRules::checkedWeight(weight);
    Visit v(*this);
    if (left() > kMax - weight) {
      throwMisuse(Fault::overflow, "semaphore value above its maximum");
    }
    std::uint32_t more = static_cast<std::uint32_t>(weight) - putBack(v, weight);
    for (Word32& held : slot().held) {
      if (more == 0) break;
      more -= takeOff(held, more);
    }
    if (more > 0) slot().value.fetch_add(more);
    lookAgain(v);
  }

  /// Puts back the units of a grant that reports a death which no caller has seen, as far as this process holds them.
  /// The next holder is told.
  void reclaim(std::int32_t held, std::int32_t) {
    Visit v(*this);
    if (held <= 0 || slot().held[v.me].load() == 0) return;
    slot().abandoned.store(1);
    putBack(v, held);
    lookAgain(v);
  }

  /// Puts back the units of a dead agent of this process, as far as the process holds them, and as far as they do not
  /// raise what is left above the initial value. The next holder is told, unless the agent had released all of them
  /// (`resting`).
  void abandon(std::int32_t held, std::int32_t resting) {
    Visit v(*this);
    const std::uint32_t all = slot().held[v.me].load();
    if (held <= 0 || all == 0) return;
    const std::uint32_t dead = std::min(static_cast<std::uint32_t>(held), all);
    if (static_cast<std::uint32_t>(resting) < dead) slot().abandoned.store(1);
    const std::uint32_t back = room(slot(), dead, slot().value.load());
    owe(slot(), back);
    rest(-resting);
    if (back > 0) putBack(v, static_cast<std::int32_t>(back));
    lookAgain(v);
  }

  /// Makes the next holder learn of a death that no caller of this process has seen.
  void tellNext() noexcept { slot().abandoned.store(1); }

  /// Counts released units of this process that it keeps until the end of their minHold.
  void rest(std::int32_t change) noexcept {
    slot().resting[P::process(this)].fetch_add(static_cast<std::uint32_t>(change));
  }

  /// Sets the units left, and admits the waiters that then fit. Throws Misuse(badArgument) outside [kMin,
  /// kMax]. The units of the process whose mark is set do not count as held, because their excess has been taken off.
  void setValue(std::int32_t value, AgentId = P::agent()) {
    if (value < kMin || value > kMax) {
      throwMisuse(Fault::badArgument, "a semaphore's value is from kMin to kMax");
    }
    Visit v(*this);
    std::int64_t word = slot().value.load();
    while (!slot().value.compare_exchange_weak(
        word, word - valueIn(word) + value + sum(slot(), markIn(word)))) {
    }
    lookAgain(v);
  }

  /// The units left.
  std::int32_t value() const noexcept {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(left(), kMin, kMax));
  }

  /// Calls `use(process)` for each process that holds units: a snapshot, for listings.
  template <class Use>
  void eachHolder(Use&& use) const {
    for (ProcessSlot process = 1; process <= kMaxProcess; ++process) {
      if (unitsIn(slot().held[process].load()) > 0) use(process);
    }
  }

  static void evict(std::byte* at, ProcessSlot dead) noexcept {
    SemaphoreSlot& slot = Base::slotAt(at);
    std::int64_t word = slot.value.load();
    std::uint32_t held = slot.held[dead].load();
    if (held > 0) held = unitsIn(slot.held[dead].fetch_or(kFrozen));
    if (held > 0 && markIn(word) != dead) {
      if (held > slot.resting[dead].load()) slot.abandoned.store(1);
      P::step(Step::cleaned);
      mark(slot, dead, held);
    }
    P::step(Step::cleaned);
    slot.held[dead].store(0);
    P::step(Step::cleaned);
    word = slot.value.load();
    // The word may be corrupt, and have the mark of no process.
    while ((markIn(word) == dead || markIn(word) < 0 || markIn(word) > kMaxProcess) &&
           !slot.value.compare_exchange_weak(word, valueIn(word))) {
    }
    P::step(Step::cleaned);
    slot.resting[dead].store(0);
    Base::evictOwner(slot.head, dead, false);
  }

  static bool isUnused(const std::byte* at, std::int64_t start) noexcept {
    return isForgettable(at, start) && Base::slotAt(at).abandoned.load() == 0;
  }
  static bool isForgettable(const std::byte* at, std::int64_t start) noexcept {
    const SemaphoreSlot& slot = Base::slotAt(at);
    return Base::isIdle(slot.head) && slot.value.load() == start &&
           (slot.owed.load() == 0 || Base::isPast(slot.rest.load())) && sum(slot) == 0;
  }
  static void reset(std::byte* at, std::int64_t start) noexcept {
    SemaphoreSlot& slot = Base::slotAt(at);
    slot.value.store(start);
    slot.start.store(start);
    slot.abandoned.store(0);
    slot.owed.store(0);
    slot.rest.store(0);
  }

 private:
  SemaphoreSlot& slot() noexcept { return this->slot_; }
  const SemaphoreSlot& slot() const noexcept { return this->slot_; }

  static void check(const Waiter& w) { WeightedSemaphoreRules::check(w); }
  static bool isApart(const Waiter&) noexcept { return false; }
  void look(Visit&) noexcept {}
  void gone(Visit&, Waiter&) noexcept {}

  bool tryBefore(Waiter& w) { return Base::enterInPassing(w, false); }
  bool tryEnter(Waiter& w) { return Base::enterInPassing(w, false); }
  bool mayFit(const Waiter& w) const noexcept { return left() >= static_cast<std::int64_t>(w.ask); }

  static constexpr int kValueBits = 48;
  static constexpr std::uint32_t kFrozen = std::uint32_t{1} << 31;

  static constexpr std::uint32_t unitsIn(std::uint32_t held) noexcept { return held & ~kFrozen; }

  static std::int64_t valueIn(std::int64_t word) noexcept {
    constexpr int kOthers = 64 - kValueBits;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(word) << kOthers) >> kOthers;
  }

  /// Returns how many of `units` may be put back, at least as many as keep the value from falling below the initial one.
  /// The units of the process whose mark is set count as put back. A negative `left` counts as 0: unless setValue() made
  /// it so, units were moved while they were counted, or another cleaner has taken its excess off.
  static std::uint32_t room(const SemaphoreSlot& slot, std::uint32_t units,
                            std::int64_t word) noexcept {
    const std::int64_t left = valueIn(word) - sum(slot, markIn(word));
    const std::int64_t most = valueIn(word) - std::int64_t{units};
    const std::int64_t below = slot.start.load() - std::min(std::max<std::int64_t>(left, 0), most);
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(below, 0, units));
  }

  static std::int64_t markIn(std::int64_t word) noexcept {
    return (word - valueIn(word)) >> kValueBits;
  }

  /// The first step of an eviction: takes the excess off, and marks the word unless it has the mark of another process.
  static void mark(SemaphoreSlot& slot, ProcessSlot dead, std::uint32_t held) noexcept {
    std::int64_t word = slot.value.load();
    std::int64_t to = 0;
    std::uint32_t owed = 0;
    do {
      const std::uint32_t back = room(slot, held, word);
      // If this process is killed here, there are too many owed units until the rest ends.
      if (back > owed) owe(slot, back - owed);
      owed = std::max(owed, back);
      P::step(Step::cleaned);
      to = word - (held - back) + (markIn(word) == 0 ? std::int64_t{dead} << kValueBits : 0);
    } while (!slot.value.compare_exchange_weak(word, to));
  }

  /// Records units of a dead process as owed: their next holders must let them rest until the end of the minHold.
  static void owe(SemaphoreSlot& slot, std::uint32_t units) noexcept {
    if (slot.rest.load() != 0) slot.owed.fetch_add(units);
  }

  /// Returns the units that all processes hold but `without`.
  static std::int64_t sum(const SemaphoreSlot& slot, std::int64_t without = 0) noexcept {
    std::int64_t all = 0;
    for (ProcessSlot process = 1; process <= kMaxProcess; ++process) {
      if (process != without) all += unitsIn(slot.held[process].load());
    }
    return all;
  }
  /// Returns the units left, or fewer during a release. Reads the value last: a cleaner takes units off the value, and
  /// then off the sum, which would otherwise count as left.
  static std::int64_t left(const SemaphoreSlot& slot) noexcept {
    const std::int64_t held = sum(slot);
    return valueIn(slot.value.load()) - held;
  }
  std::int64_t left() const noexcept { return left(slot()); }

  bool admit(Visit& v, OwnerWord, Waiter& w) noexcept {
    if (!mayFit(w)) return false;
    take(v, w.ask);
    P::step(Step::joined);
    w.abandoned = !w.isPassing && slot().abandoned.load() != 0 && slot().abandoned.exchange(0) != 0;
    Base::letIn(v, w);
    return true;
  }

  /// Adds to held. It grows without end if other processes put back the units that this one takes. Units beyond the
  /// word's maximum are not put back when the process dies.
  void take(Visit& v, std::uint32_t weight) noexcept {
    Word32& held = slot().held[v.me];
    if (held.load() > kFrozen - 1 - weight) {
      slot().value.fetch_sub(weight);
    } else {
      held.fetch_add(weight);
    }
  }

  /// Puts back up to `weight` of the units that this process holds, and returns their number.
  std::uint32_t putBack(Visit& v, std::int32_t weight) noexcept {
    Word32& held = slot().held[v.me];
    const std::uint32_t back = takeOff(held, static_cast<std::uint32_t>(weight));
    P::step(Step::parted);
    return back;
  }

  /// Takes up to `most` off `held`, and returns how many: none if it is frozen.
  static std::uint32_t takeOff(Word32& held, std::uint32_t most) noexcept {
    std::uint32_t now = held.load();
    std::uint32_t off = 0;
    do {
      off = (now & kFrozen) == 0 ? std::min(now, most) : 0;
    } while (off > 0 && !held.compare_exchange_weak(now, now - off));
    return off;
  }

  void lookAgain(Visit& v) noexcept {
    Base::advance(v);
    Base::notifyOwner(v);
  }
};

}  // namespace boxoffice::host
