// The turn of a slot, and how a process comes to it and passes it on (turn.h says what is in the word).
//
//                     room in the fifo                    handed over, or free and first
//   nobody waits ───────────────────────▶ in the fifo ─────────────────────────────────▶ our turn
//        │ no room                            ▲                                          │     │
//        └──────────▶ in `more` ──────────────┘ rung, and there is room      passed on ──┘     └─ our
//                                                                                            agent's
//
// One actor per process and slot: whatever C++ changes of a slot it changes with the bucket of that slot
// held (host_office.h). JavaScript's steps come from the side, and so does the cleaning of a dead seat.
//
// Invariants, when nobody is inside:
//   1. Only a process itself puts its seat into the word or into `more`; others move it within the word, or
//      take it out when it is dead. So who has been cleaned away does not come back.
//   2. A process of which somebody waits has the turn, or stands in the fifo, or in `more`. Who stays in
//      `more` has seen the fifo not empty after its bit was set.
//   3. Whoever makes the fifo shorter, clears `line`, or leaves the turn free with nobody in the fifo, looks
//      at `more` after that, and rings as many as there is room for. So nobody is forgotten there, and
//      nobody is passed over for ever: they are rung from the one on that went last, around the corner.
//   4. Whoever hands the turn to a process, or leaves it free with somebody in the fifo, rings it.
//   5. Bells do no harm: who hears one looks at everything, and does what is due. Who dies and owes a
//      bell is made up for by the one that everybody gets when the dead one has been cleaned away.
//
// Memory order: all of it is sequentially consistent, for 3 ("set the bit, then look at the word" against
// "change the word, then look at the bits"), and for what the kinds of lock do likewise.
#pragma once

#include <chrono>
#include <cstdint>

#include "host/seats.h"
#include "host/turn.h"
#include "office.h"

namespace boxoffice::host {

/// The places in the slow path where tests kill a process, to see what others make of what it leaves.
enum class Step : std::uint8_t {
  beforeTurn,
  afterTurn,
  moreAdded,
  moreRemoved,
  beforeRing,
  joined,
  parted,
  claimed,
  written,
  unclaimed,
  cleaned
};
constexpr int kSteps = 11;

/// Bells to ring at the end, outside every lock.
template <class P>
class Rings {
 public:
  explicit Rings(const void* slot) noexcept : slot_(slot) {}
  ~Rings() {
    while (!seats_.empty()) {
      const Seat seat = seats_.behind(0);
      seats_.remove(seat);
      P::step(Step::beforeRing);
      P::ring(slot_, seat);
    }
  }
  Rings(const Rings&) = delete;
  Rings& operator=(const Rings&) = delete;

  void add(Seat seat) noexcept { seats_.add(seat); }

 private:
  const void* const slot_;
  Seats seats_;
};

template <class P, class Slot>
class Turnstile {
 public:
  Turnstile(const Turnstile&) = delete;
  Turnstile& operator=(const Turnstile&) = delete;

  Turn turn() const noexcept { return Turn(slot_.head.turn.load()); }

  /// Calls `use(seat)` for each process that waits: as it is at this moment, for people.
  template <class Use>
  void eachWaiter(Use&& use) const {
    const Turn t = turn();
    Seats beyond(slot_.head.more);
    if (t.agent() == kNobody && !t.isFree()) use(t.seat());
    for (int i = 0; i < t.waiting(); ++i) {
      use(t.at(i));
      beyond.remove(t.at(i));
    }
    beyond.each(use);
  }

 protected:
  Turnstile() = default;
  ~Turnstile() = default;

  /// What a step needs to know of the process that makes it.
  struct Pass {
    explicit Pass(const Turnstile& turnstile) : me(P::seat(&turnstile)), rings(&turnstile) {}

    const Seat me;
    Rings<P> rings;
    bool heard = false;  ///< our bell has been rung, and so we go before all others of `more`
  };

  /// Changes the turn, if it still is `from`, to `to` and whatever goes with it, and rings who has to hear
  /// of it. `waits`: whether anybody of ours will wait then.
  bool change(Pass& pass, Turn from, Turn to, bool waits) noexcept {
    to = complete(from, to, pass.me, waits, !slot_.head.more.empty());
    if (to == from) return true;
    P::step(Step::beforeTurn);
    Turn::Bits seen = from.bits();
    if (!slot_.head.turn.compare_exchange_strong(seen, to.bits())) return false;
    P::step(Step::afterTurn);
    if (!to.isEmpty() && to.head() != from.head()) slot_.head.headSince.store(ticks());
    if (!to.isFree() && to.seat() != from.seat() && to.seat() != pass.me) pass.rings.add(to.seat());
    if (to.has(Turn::kInvited) && (!from.has(Turn::kInvited) || to.head() != from.head())) {
      pass.rings.add(to.head());
    }
    const bool shorter = to.waiting() < from.waiting();
    const bool cleared = from.has(Turn::kLine) && !to.has(Turn::kLine);
    if (shorter || cleared || (to.isFree() && to.isEmpty())) callMore(pass, to, from.head());
    return true;
  }

  /// After a change of what others wait for besides the turn: whoever has it looks again.
  void ringOwner(Pass& pass) noexcept {
    const Turn t = turn();
    if (!t.isFree() && t.agent() == kNobody && t.seat() != pass.me) pass.rings.add(t.seat());
  }

  /// Whether the head of the fifo, which is another process, has waited for long enough.
  bool isOverdue(Turn t) const noexcept {
    if (t.has(Turn::kStrict)) return true;
    // Unsigned, so that a time that lies ahead (written by nonsense, or by another clock) is over.
    const auto patience = std::chrono::nanoseconds(kPatience).count();
    return ticks() - slot_.head.headSince.load() >= static_cast<std::uint64_t>(patience);
  }
  bool isDue(const Pass& pass, Turn t) const noexcept {
    return !t.isEmpty() && t.head() != pass.me && isOverdue(t);
  }

  /// The turn `from` is ours, and as `mine` but for others: to the head of the fifo, if it is due or one of
  /// ours, who makes way, `waits`; else it is left free.
  bool passOn(Pass& pass, Turn from, Turn mine, bool waits) noexcept {
    const Turn others = mine.without(pass.me);
    if (others.isEmpty() || (!waits && !isOverdue(others)))
      return change(pass, from, others.free(), waits);
    const Seat next = others.head();
    Turn to = others.without(next).ownedBy(next, kNobody);
    if (waits) {
      Seats beyond(slot_.head.more);
      const bool isBeyond = beyond.has(pass.me);
      beyond.remove(pass.me);
      if (to.isEmpty() || beyond.empty()) {
        to = to.queued(pass.me);  // there is room: the one that was first has gone
      } else if (!isBeyond) {
        slot_.head.more.add(pass.me);
        P::step(Step::moreAdded);
      }
    }
    return change(pass, from, to, waits);
  }

  /// Stands in the fifo, or in `more`, or has the turn and says that somebody waits. False: look again.
  bool stand(Pass& pass, Turn t, bool strictly) noexcept {
    Turn to = t;
    if (t.seat() != pass.me && !t.isQueued(pass.me)) {
      Seats beyond(slot_.head.more);
      const bool isBeyond = beyond.has(pass.me);
      beyond.remove(pass.me);
      if (t.isEmpty() || (!t.isFull() && (pass.heard || beyond.empty()))) {
        to = t.queued(pass.me);
      } else if (!isBeyond) {
        slot_.head.more.add(pass.me);
        P::step(Step::moreAdded);
        return false;
      }
    }
    if (t.seat() != pass.me && strictly) to = to.with(Turn::kStrict);
    if (to.head() == pass.me) to = to.with(Turn::kInvited, false);  // we came too late
    return change(pass, t, to, true);
  }

  /// Out of `more`, once we wait for nothing or stand elsewhere. Who has the turn does only with `line`: JavaScript
  /// of ours may have taken a word that was 0 for a moment, and will leave it without a look. False: we
  /// stand there as we should, or not at all.
  bool leaveMore(Pass& pass, Turn t, bool waits) noexcept {
    if (!slot_.head.more.has(pass.me)) return false;
    const bool hasTurn = t.seat() == pass.me && t.has(Turn::kLine);
    if (waits && !hasTurn && !t.isQueued(pass.me)) return false;
    slot_.head.more.remove(pass.me);
    P::step(Step::moreRemoved);
    // The bell that we may have got instead of another is for that one.
    if (!waits) callMore(pass, turn(), pass.me);
    return true;
  }

  /// Out of the fifo; and if `line` was left on a free turn for one that has left `more` since, off with it.
  /// False: look again.
  bool drop(Pass& pass, Turn t) noexcept {
    const bool isLeftOver =
        t.isFree() && t.isEmpty() && t.has(Turn::kLine) && slot_.head.more.empty();
    if (!isLeftOver && !t.isQueued(pass.me)) return true;
    change(pass, t, t.without(pass.me), false);
    return false;
  }

  static Slot& slotAt(std::byte* at) noexcept { return *reinterpret_cast<Slot*>(at); }
  static const Slot& slotAt(const std::byte* at) noexcept {
    return *reinterpret_cast<const Slot*>(at);
  }
  static bool isIdle(const SlotHead& head) noexcept {
    return head.turn.load() == 0 && head.more.empty();
  }

  /// Takes a dead process out of the word and of `more`; its turn goes to the next. Everybody is rung
  /// afterwards. It may have been done before, in part.
  static void evictTurn(SlotHead& head, Seat dead, bool tells) noexcept {
    if (head.more.has(dead)) {
      head.more.remove(dead);
      P::step(Step::cleaned);
    }
    for (;;) {
      const Turn t(head.turn.load());
      Turn to = t.without(dead);
      if (t.seat() == dead) {
        const Seat next = to.head();
        to = next == kNoSeat ? to.free() : to.without(next).ownedBy(next, kNobody);
        if (tells && t.agent() != kNobody) to = to.with(Turn::kAbandoned);
      }
      to = complete(t, to, kNoSeat, false, !head.more.empty());
      Turn::Bits seen = t.bits();
      if (to == t) return;
      P::step(Step::beforeTurn);
      if (!head.turn.compare_exchange_strong(seen, to.bits())) continue;
      P::step(Step::cleaned);
      if (!to.isEmpty() && to.head() != t.head()) head.headSince.store(ticks());
    }
  }

  Slot slot_{};

 private:
  static std::uint64_t ticks() noexcept {
    const auto since =
        std::chrono::duration_cast<std::chrono::nanoseconds>(P::now().time_since_epoch());
    return static_cast<std::uint64_t>(since.count());
  }

  /// The flags of `to` as they are due.
  static Turn complete(Turn from, Turn to, Seat me, bool waits, bool beyond) noexcept {
    if (to.isEmpty()) {
      to = to.with(Turn::kStrict | Turn::kInvited, false);
    } else if (to.isFree()) {
      to = to.with(Turn::kInvited);
    } else if (to.head() != from.head()) {
      to = to.with(Turn::kInvited, false);
    }
    bool line = beyond || !to.isEmpty();
    if (!to.isFree()) {
      // Of others' private lines we know nothing but what the flag has said.
      const bool unknown = from.has(Turn::kLine) || to.seat() != from.seat();
      line = line || (to.seat() == me ? waits : unknown);
    }
    return to.with(Turn::kLine, line);
  }

  /// Rings as many of `more` as there is room for in the fifo, from `after` on.
  void callMore(Pass& pass, Turn t, Seat after) noexcept {
    Seats beyond(slot_.head.more);
    beyond.remove(pass.me);
    for (int room = Turn::kPlaces - t.waiting(); room > 0 && !beyond.empty(); --room) {
      after = beyond.behind(after);
      beyond.remove(after);
      pass.rings.add(after);
    }
  }
};

}  // namespace boxoffice::host
