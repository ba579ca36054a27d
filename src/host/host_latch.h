// A latch of scope host, and a manual-reset event: a latch that can be closed again.
//
//   word   upper half: number of openings | lower half: twice the count; 0: open
//   part   upper half: number of openings when the waiters came | lower half: the number of waiters
//
//   countDown   count - n; at zero the latch is open
//   set, reset  the count is 0, or 1
//   wait        open: passes. Otherwise queues until the next opening, even if the latch is closed again by then
#pragma once

#include "host/host_gate.h"
#include "platform/misuse.h"

namespace boxoffice::host {

template <class P>
class BasicHostLatch : public HostGate<P, BasicHostLatch<P>> {
  using Base = HostGate<P, BasicHostLatch<P>>;
  using typename Base::Bits;
  using typename Base::Visit;
  friend Base;
  friend QueuedLock<P, BasicHostLatch<P>>;

 public:
  /// Throws Misuse(underflow) and changes nothing when fewer than n are left to count.
  void countDown(std::uint32_t n = 1, AgentId = P::agent()) {
    change([n](std::uint32_t twice) {
      if (n > twice / 2) throwMisuse(Fault::underflow, "a latch counted down below zero");
      return twice - 2 * n;
    });
  }
  void set(AgentId = P::agent()) {
    change([](std::uint32_t) { return 0U; });
  }
  void reset() {
    change([](std::uint32_t) { return 2U; });
  }

  std::uint32_t count() const noexcept { return Base::lower(this->slot_.word.load()) / 2; }
  bool isOpen() const noexcept { return Base::lower(this->slot_.word.load()) == 0; }

  static void evict(std::byte* at, ProcessSlot dead) noexcept {
    Base::slotAt(at).parts[dead].store(0);
    P::step(Step::cleaned);
  }

 private:
  /// Replaces twice the count by next(twice the count).
  template <class Next>
  void change(Next next) {
    Visit v(*this);
    Bits seen = this->slot_.word.load();
    Bits to = 0;
    do {
      const std::uint32_t twice = next(Base::lower(seen));
      to = Base::pair(Base::upper(seen) + (twice == 0 ? 1 : 0), twice);
    } while (!Base::change(this->slot_.word, seen, to));
    if (Base::lower(to) != 0) return;
    this->tellAll(v);
    advance(v);
  }

  bool tryEnter(Waiter&) const noexcept { return isOpen(); }

  void advance(Visit& v) noexcept {
    if (v.size() == 0) return;
    const Bits seen = this->slot_.word.load();
    if (Base::lower(seen) != 0 && Base::upper(seen) == Base::upper(v.part.load())) return;
    while (Waiter* const w = v.head()) v.letIn(*w);
    v.part.store(0);
    P::step(Step::parted);
  }

  // All waiters of a process arrived after the same opening, because advance() has admitted the earlier ones.

  void count(Visit& v) noexcept {
    if (v.size() == 1) {
      v.part.store(Base::pair(Base::upper(this->slot_.word.load()), 1));
    } else {
      v.part.fetch_add(1);
    }
  }
  bool discount(Visit& v) noexcept {
    v.part.fetch_sub(1);
    return true;
  }
};

}  // namespace boxoffice::host
