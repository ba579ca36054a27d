// A counting semaphore of the processes of a machine. What each process holds is counted by its process slot, so that it
// can be put back when it dies; what is left is value - the sum of these.
//
//   acquire(w)   its ownership (ownership.h), and w is left: held[process slot] + w, and ownership is passed on. Else: waits, and
//                keeps ownership: nobody slips past. Within a process: by priority, then in the queue.
//   release(n)   held[process slot] - n; what is more than that adds to the value. Who has ownership looks again.
//   a death      held[dead] = 0, and `abandoned`, if it held any: the next one in is told
//
// Only who has ownership adds to held, so what is left does not pass below zero by it (setValue may make it so).
// "Take from held, then look at ownership" and "take ownership, then look at held", both sequentially
// consistent: who waits with ownership sees the release, or is notified by it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "host/host_lock.h"
#include "locks/weighted_semaphore.h"

namespace boxoffice::host {

template <class P>
class BasicHostSemaphore : public HostLock<P, BasicHostSemaphore<P>, SemaphoreSlot> {
  using Base = HostLock<P, BasicHostSemaphore<P>, SemaphoreSlot>;
  using typename Base::Visit;
  friend Base;

 public:
  static constexpr std::int32_t kMax = WeightedSemaphore::kMax;
  static constexpr std::int32_t kMin = WeightedSemaphore::kMin;

  // As BasicWeightedSemaphore's.

  Entry acquire(std::int32_t weight = 1) { return acquireUntil(kNever, weight); }
  Entry acquireFor(std::chrono::nanoseconds timeout, std::int32_t weight = 1, double priority = 0) {
    return acquireUntil(deadlineIn(timeout), weight, priority);
  }
  Entry acquireUntil(Deadline deadline, std::int32_t weight = 1, double priority = 0) {
    Waiter w;
    w.agent = P::agent();
    w.ask = static_cast<std::uint32_t>(weight);
    w.priority = priority;
    return Base::entry(Base::enterBlocking(w, deadline), w);
  }
  /// Never blocks, never goes before anybody who waits.
  Entry tryAcquire(std::int32_t weight = 1) { return acquireUntil(Deadline::min(), weight); }

  /// Puts `weight` back: what this process holds, then more. Throws Misuse(overflow) and changes nothing when
  /// more than kMax would be left.
  void release(std::int32_t weight = 1, AgentId = P::agent()) {
    checkWeight(weight);
    Visit v(*this);
    if (left() > kMax - weight) {
      throw Misuse(Fault::overflow, "semaphore value above its maximum");
    }
    const std::uint32_t more = static_cast<std::uint32_t>(weight) - putBack(v, weight);
    if (more > 0) slot().value.fetch_add(more);
    lookAgain(v);
  }

  /// Puts back what an agent of this process held that died, as far as the process holds it, and tells the next
  /// to get in.
  void reclaim(std::int32_t held, std::int32_t) {
    Visit v(*this);
    if (held <= 0 || slot().held[v.me].load() == 0) return;
    slot().abandoned.store(1);
    putBack(v, held);
    lookAgain(v);
  }

  /// Sets what is left, and admits whoever fits then. Misuse(badArgument) outside [kMin, kMax].
  void setValue(std::int32_t value, AgentId = P::agent()) {
    if (value < kMin || value > kMax) {
      throw Misuse(Fault::badArgument, "a semaphore's value is from kMin to kMax");
    }
    Visit v(*this);
    std::int64_t all = slot().value.load();
    while (!slot().value.compare_exchange_weak(all, value + taken())) {
    }
    lookAgain(v);
  }

  /// What is left.
  std::int32_t value() const noexcept {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(left(), kMin, kMax));
  }
  /// What this process holds.
  std::uint32_t held() const noexcept { return slot().held[P::process(this)].load(); }

  /// Calls `use(process slot)` for each process that holds any: as it is at this moment, for people.
  template <class Use>
  void eachHolder(Use&& use) const {
    for (ProcessSlot process = 1; process <= kMaxProcess; ++process) {
      if (slot().held[process].load() > 0) use(process);
    }
  }

  static void evict(std::byte* at, ProcessSlot dead) noexcept {
    SemaphoreSlot& slot = Base::slotAt(at);
    if (slot.held[dead].load() > 0) {
      slot.abandoned.store(1);
      P::step(Step::cleaned);
      slot.held[dead].store(0);
      P::step(Step::cleaned);
    }
    Base::evictOwner(slot.head, dead, false);
  }

  static bool isUnused(const std::byte* at, std::int64_t start) noexcept {
    const SemaphoreSlot& slot = Base::slotAt(at);
    return Base::isIdle(slot.head) && slot.value.load() == start && slot.abandoned.load() == 0 &&
           sum(slot) == 0;
  }
  static void reset(std::byte* slot, std::int64_t start) noexcept {
    Base::slotAt(slot).value.store(start);
  }

 private:
  SemaphoreSlot& slot() noexcept { return this->slot_; }
  const SemaphoreSlot& slot() const noexcept { return this->slot_; }

  static void checkWeight(std::int32_t weight) {
    if (weight < 1 || weight > kMax) {
      throw Misuse(Fault::badArgument, "a weight is from 1 to kMax");
    }
  }
  static void check(const Waiter& w) {
    checkWeight(static_cast<std::int32_t>(w.ask));
    if (std::isnan(w.priority)) throw Misuse(Fault::badArgument, "a priority cannot be NaN");
  }
  static bool isApart(const Waiter&) noexcept { return false; }
  void look(Visit&) noexcept {}
  void gone(Visit&, Waiter&) noexcept {}

  bool tryBefore(Waiter& w) { return Base::enterInPassing(w, false); }
  bool tryEnter(Waiter& w) { return Base::enterInPassing(w, false); }
  bool mayFit(const Waiter& w) const noexcept { return left() >= static_cast<std::int64_t>(w.ask); }

  static std::int64_t sum(const SemaphoreSlot& slot) noexcept {
    return std::accumulate(std::begin(slot.held), std::end(slot.held), std::int64_t{0},
                           [](std::int64_t all, const Word32& one) { return all + one.load(); });
  }
  std::int64_t taken() const noexcept { return sum(slot()); }
  /// The value first: a release that adds to it meanwhile is one that has not been yet.
  std::int64_t left() const noexcept {
    const std::int64_t all = slot().value.load();
    return all - taken();
  }

  bool admit(Visit& v, OwnerWord, Waiter& w) noexcept {
    if (!mayFit(w)) return false;
    take(v, w.ask);
    P::step(Step::joined);
    w.abandoned = slot().abandoned.load() != 0 && slot().abandoned.exchange(0) != 0;
    Base::letIn(v, w);
    return true;
  }

  /// What a process takes for others to put back adds up. What its word cannot count does not come back by its
  /// death.
  void take(Visit& v, std::uint32_t weight) noexcept {
    Word32& held = slot().held[v.me];
    if (held.load() > std::numeric_limits<std::uint32_t>::max() - weight) {
      slot().value.fetch_sub(weight);
    } else {
      held.fetch_add(weight);
    }
  }

  /// How much of it this process held.
  std::uint32_t putBack(Visit& v, std::int32_t weight) noexcept {
    Word32& held = slot().held[v.me];
    const std::uint32_t back = std::min(static_cast<std::uint32_t>(weight), held.load());
    held.fetch_sub(back);
    P::step(Step::parted);
    return back;
  }

  void lookAgain(Visit& v) noexcept {
    Base::advance(v);
    Base::notifyOwner(v);
  }
};

}  // namespace boxoffice::host
