// Whose turn it is, of the processes that share a lock, and which of them wait: one word, so that each
// change of it is one compare-and-swap, and whoever is killed leaves a state that is right.
//
//     63 62 | 61      | 60     | 59 .. 53 ... 38 .. 32 | 31 .. 25 | 24 .. 2 | 1         | 0
//     0     | invited | strict | fifo: four seats      | seat     | agent   | abandoned | line
//                                the first in the low    └─────────── JavaScript sees these ──────┘
//
//   free          0            * compare-and-swap ▶ held           (* JavaScript makes these steps)
//   held          seat, agent  * compare-and-swap ▶ free; with `line`: by C++
//   free, line    line         * compare-and-swap ▶ held, line: before the head of the fifo, invited
//   (s, 0)        seat         the turn of process s, which has not given it to one of its agents
//
// fifo: the processes that wait, by their seats. Who finds no room has a bit in `more` (host_office.h).
// line: an unlock has to look: set whenever the fifo is not empty.
// invited: the turn was left free, and the head of the fifo has been told. Set whenever the turn is free
//     and the fifo is not empty.
// strict: somebody of the fifo wants first come, first served: the turn is always handed over.
// abandoned: who held the lock died with it, and nobody has been told yet. Never set while an agent holds.
#pragma once

#include <cstdint>

#include "agent.h"
#include "host/key_entry.h"

namespace boxoffice::host {

class Turn {
 public:
  using Bits = std::uint64_t;

  static constexpr Bits kLine = 1;
  static constexpr Bits kAbandoned = 2;
  static constexpr Bits kStrict = Bits{1} << 60;
  static constexpr Bits kInvited = Bits{1} << 61;
  static constexpr AgentId kMaxAgent = (AgentId{1} << 23) - 1;
  static constexpr int kPlaces = 4;

  constexpr Turn() = default;
  constexpr explicit Turn(Bits bits) noexcept : bits_(bits) {}
  /// The word while this agent holds the lock and nobody waits.
  static constexpr Turn held(Seat seat, AgentId agent) noexcept {
    return Turn().ownedBy(seat, agent);
  }

  constexpr Bits bits() const noexcept { return bits_; }
  constexpr bool operator==(const Turn&) const noexcept = default;

  constexpr bool has(Bits flag) const noexcept { return (bits_ & flag) != 0; }
  constexpr Turn with(Bits flag, bool on = true) const noexcept {
    return Turn(on ? bits_ | flag : bits_ & ~flag);
  }

  /// Whose turn it is; kNoSeat while it is free.
  constexpr Seat seat() const noexcept { return static_cast<Seat>(bits_ >> kSeatAt & kSeatMask); }
  constexpr AgentId agent() const noexcept {
    return static_cast<AgentId>(bits_ >> kAgentAt & kMaxAgent);
  }
  constexpr bool isFree() const noexcept { return seat() == 0; }
  /// It is the turn of this process, and of none of its agents yet.
  constexpr bool isUngiven(Seat whose) const noexcept { return seat() == whose && agent() == 0; }
  constexpr Turn ownedBy(Seat whose, AgentId who) const noexcept {
    return Turn((bits_ & ~(kSeatMask << kSeatAt | Bits{kMaxAgent} << kAgentAt)) |
                Bits{whose} << kSeatAt | Bits{who} << kAgentAt);
  }
  constexpr Turn free() const noexcept { return ownedBy(0, 0); }

  /// The seat at this place of the fifo; 0 behind the last.
  constexpr Seat at(int place) const noexcept {
    return static_cast<Seat>(bits_ >> (kFifoAt + kSeatBits * place) & kSeatMask);
  }
  constexpr Seat head() const noexcept { return at(0); }
  constexpr bool isEmpty() const noexcept { return head() == 0; }
  constexpr bool isFull() const noexcept { return at(kPlaces - 1) != 0; }
  constexpr int waiting() const noexcept {
    int count = 0;
    while (count < kPlaces && at(count) != 0) ++count;
    return count;
  }
  constexpr bool isQueued(Seat whose) const noexcept {
    for (int i = 0; i < kPlaces; ++i) {
      if (at(i) == whose) return true;
    }
    return false;
  }
  /// Only when there is room.
  constexpr Turn queued(Seat whose) const noexcept {
    return Turn(bits_ | Bits{whose} << (kFifoAt + kSeatBits * waiting()));
  }
  /// The same, before all others.
  constexpr Turn queuedFirst(Seat whose) const noexcept {
    return Turn((bits_ & ~kFifo) | ((bits_ & kFifo) << kSeatBits & kFifo) | Bits{whose} << kFifoAt);
  }
  /// Without this seat in the fifo, and without a gap there, whatever somebody has scribbled.
  constexpr Turn without(Seat whose) const noexcept {
    Turn rest(bits_ & ~kFifo);
    for (int i = 0; i < kPlaces; ++i) {
      if (at(i) != 0 && at(i) != whose) rest = rest.queued(at(i));
    }
    return rest;
  }

 private:
  static constexpr int kAgentAt = 2;
  static constexpr int kSeatAt = 25;
  static constexpr int kSeatBits = 7;
  static constexpr int kFifoAt = 32;
  static constexpr Bits kSeatMask = 127;
  static constexpr Bits kFifo = ((Bits{1} << kSeatBits * kPlaces) - 1) << kFifoAt;

  Bits bits_ = 0;
};

}  // namespace boxoffice::host
