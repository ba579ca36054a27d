// A cyclic barrier of scope host: see locks/barrier.h.
//
//   word   upper half: the round | lower half: 31 .. 2 missing | 1 broken
//   part   upper half: the round that the waiters arrived in | lower half: 31 failed | 29 .. 0 the waiters
//
//   arrive    counts the party in the part of its process, then missing - 1. The last party begins the next round
//   give up   sets broken: a broken round never passes
//   reset     sets broken, then marks every part with waiters `failed`, then begins the next round
//   a death   of a process with a waiter in this round sets broken
//
// The waiters of a part fail if it is marked `failed`, or if its round is broken now. Waiters of an earlier round
// have passed. This is safe because only a reset ends a broken round, and it marks the parts before it changes the
// word.
#pragma once

#include "host/host_gate.h"
#include "locks/barrier.h"

namespace boxoffice::host {

template <class P>
class BasicHostBarrier : public HostGate<P, BasicHostBarrier<P>> {
  using Base = HostGate<P, BasicHostBarrier<P>>;
  using typename Base::Bits;
  using typename Base::Visit;
  friend Base;

 public:
  /// Does what BasicBarrierWord::enter does.
  Passage enter(Waiter& w, std::uint32_t parties) {
    Visit v(*this);
    WaitQueue& queue = v.bucket.obtainQueue();
    // Enter the queue first, so that nothing throws once the waiter has been counted.
    queue.enter(w);
    queue.leave(w);
    for (;;) {
      advance(v);
      Bits mine = v.part.load();
      Bits seen = word().load();
      if ((seen & kBroken) != 0) {
        if (queue.empty()) return Passage::broken;
      } else if (queue.empty() || isIn(mine, seen)) {
        const std::uint32_t missing = missingIn(seen);
        w.ask = missing - 1;
        if (missing <= 1) {
          if (!Base::change(word(), seen, startOf(seen, parties))) continue;
          this->tellAll(v);
          advance(v);
          return Passage::last;
        }
        if (arrive(v, mine, seen)) {
          queue.enter(w);
          w.abandoned = false;
          return Passage::waiting;
        }
      }
    }
  }

  /// Does what BasicBarrierWord::enterBlocking does.
  Passage enterBlocking(Waiter& w, std::uint32_t parties, Deadline deadline) {
    return arriveBlocking<P>(*this, w, parties, deadline);
  }

  /// Does what BasicBarrierWord::breakNow does.
  void breakNow() {
    Visit v(*this);
    Bits seen = word().load();
    while (!breakIn(word(), seen)) {
    }
    this->tellAll(v);
    advance(v);
  }

  /// Does what BasicBarrierWord::reset does.
  void reset(std::uint32_t parties) {
    Visit v(*this);
    Bits seen = word().load();
    while (!breakIn(word(), seen)) {
    }
    for (Word64& part : this->slot_.parts) {
      Bits now = part.load();
      while (isIn(now, seen) && !part.compare_exchange_strong(now, now | kFailed)) {
      }
      P::step(Step::parted);
    }
    // If the change fails, another reset has begun the next round.
    Base::change(word(), seen, startOf(seen, parties));
    this->tellAll(v);
    advance(v);
  }

  static void evict(std::byte* at, ProcessSlot dead) noexcept {
    GateSlot& slot = Base::slotAt(at);
    const Bits part = slot.parts[dead].load();
    Bits seen = slot.word.load();
    while (isIn(part, seen) && !breakIn(slot.word, seen)) {
    }
    P::step(Step::cleaned);
    slot.parts[dead].store(0);
    P::step(Step::cleaned);
  }

 private:
  static constexpr Bits kBroken = 2;
  static constexpr Bits kMissing = 4;
  static constexpr int kMissingAt = 2;
  static constexpr Bits kFailed = Bits{1} << 31;

  Word64& word() noexcept { return this->slot_.word; }

  static std::uint32_t missingIn(Bits word) noexcept { return Base::lower(word) >> kMissingAt; }
  static Bits startOf(Bits word, std::uint32_t parties) noexcept {
    return Base::pair(Base::upper(word) + 1, parties << kMissingAt);
  }
  /// Whether a part has waiters in the round of that word, and no reset has ended it for them.
  static bool isIn(Bits part, Bits word) noexcept {
    return Base::waiters(part) > 0 && (part & kFailed) == 0 &&
           Base::upper(part) == Base::upper(word);
  }

  /// Breaks the round of `seen`, and sets `seen` to the new word. If the word has changed, sets `seen` to the current
  /// word and returns false.
  static bool breakIn(Word64& word, Bits& seen) noexcept {
    if ((seen & kBroken) != 0) return true;
    if (!Base::change(word, seen, seen | kBroken)) return false;
    seen |= kBroken;
    return true;
  }

  /// Counts a waiter in the part of this process, which was `mine`, and then in the word, which was `seen`. Returns
  /// false when one of them has changed.
  bool arrive(Visit& v, Bits mine, Bits seen) noexcept {
    const Bits more = v.size() > 0 ? mine + 1 : Base::pair(Base::upper(seen), 1);
    if (!v.part.compare_exchange_strong(mine, more)) return false;
    P::step(Step::joined);
    if (Base::change(word(), seen, seen - kMissing)) return true;
    v.part.fetch_sub(1);
    return false;
  }

  void advance(Visit& v) noexcept {
    if (v.size() == 0) return;
    // In this order: see reset.
    const Bits seen = word().load();
    const Bits mine = v.part.load();
    const bool isOver = !isIn(mine, seen);
    if (!isOver && (seen & kBroken) == 0) return;
    const bool hasFailed = !isOver || (mine & kFailed) != 0;
    while (Waiter* const w = v.head()) v.letIn(*w, hasFailed);
    v.part.store(0);
    P::step(Step::parted);
  }

  /// Counts out a waiter that gives up.
  bool discount(Visit& v) noexcept {
    Bits seen = word().load();
    if (!isIn(v.part.load(), seen) || (seen & kBroken) != 0 || !breakIn(word(), seen)) return false;
    v.part.fetch_sub(1);
    this->tellAll(v);
    return true;
  }
};

}  // namespace boxoffice::host
