// Whose ownership it is, of the processes that share a lock, and which of them wait: one word, so that each
// change of it is one compare-and-swap, and whoever is killed leaves a state that is right.
//
//     63 62 | 61      | 60     | 59 .. 53 ... 38 .. 32 | 31 .. 25 | 24 .. 2 | 1         | 0
//     0     | invited | strict | fifo: four process slots      | process slot     | agent   | abandoned | queue
//                                the first in the low    └─────────── JavaScript sees these ──────┘
//
//   free          0            * compare-and-swap ▶ held           (* JavaScript makes these steps)
//   held          process slot, agent  * compare-and-swap ▶ free; with `queue`: by C++
//   free, queue    queue         * compare-and-swap ▶ held, queue: before the head of the fifo, invited
//   (s, 0)        process slot         ownership of process s, which has not given it to one of its agents
//
// fifo: the processes that wait, by their process slots. Who finds no room has a bit in `overflow` (host_lock.h).
// queue: an unlock has to look: set whenever the fifo is not empty.
// invited: ownership was left free, and the head of the fifo has been told. Set whenever ownership is free
//     and the fifo is not empty.
// strict: somebody of the fifo wants first come, first served: ownership is always handed over.
// abandoned: who held the lock died with it, and nobody has been told yet. Never set while an agent holds.
#pragma once

#include <cstdint>

#include "host/key_entry.h"
#include "waiting/agent.h"

namespace boxoffice::host {

class OwnerWord {
 public:
  using Bits = std::uint64_t;

  static constexpr Bits kQueued = 1;
  static constexpr Bits kAbandoned = 2;
  static constexpr Bits kStrict = Bits{1} << 60;
  static constexpr Bits kInvited = Bits{1} << 61;
  static constexpr AgentId kMaxAgent = (AgentId{1} << 23) - 1;
  static constexpr int kPlaces = 4;

  constexpr OwnerWord() = default;
  constexpr explicit OwnerWord(Bits bits) noexcept : bits_(bits) {}
  /// The word while this agent holds the lock and nobody waits.
  static constexpr OwnerWord held(ProcessSlot process, AgentId agent) noexcept {
    return OwnerWord().ownedBy(process, agent);
  }

  constexpr Bits bits() const noexcept { return bits_; }
  constexpr bool operator==(const OwnerWord&) const noexcept = default;

  constexpr bool has(Bits flag) const noexcept { return (bits_ & flag) != 0; }
  constexpr OwnerWord with(Bits flag, bool on = true) const noexcept {
    return OwnerWord(on ? bits_ | flag : bits_ & ~flag);
  }

  /// Whose ownership it is; kNoSeat while it is free.
  constexpr ProcessSlot process() const noexcept {
    return static_cast<ProcessSlot>(bits_ >> kProcessAt & kProcessMask);
  }
  constexpr AgentId agent() const noexcept {
    return static_cast<AgentId>(bits_ >> kAgentAt & kMaxAgent);
  }
  constexpr bool isFree() const noexcept { return process() == 0; }
  /// It is ownership of this process, and of none of its agents yet.
  constexpr bool isUngiven(ProcessSlot whose) const noexcept {
    return process() == whose && agent() == 0;
  }
  constexpr OwnerWord ownedBy(ProcessSlot whose, AgentId who) const noexcept {
    return OwnerWord((bits_ & ~(kProcessMask << kProcessAt | Bits{kMaxAgent} << kAgentAt)) |
                     Bits{whose} << kProcessAt | Bits{who} << kAgentAt);
  }
  constexpr OwnerWord free() const noexcept { return ownedBy(0, 0); }

  /// The process slot at this place of the fifo; 0 behind the last.
  constexpr ProcessSlot at(int place) const noexcept {
    return static_cast<ProcessSlot>(bits_ >> (kFifoAt + kProcessBits * place) & kProcessMask);
  }
  constexpr ProcessSlot head() const noexcept { return at(0); }
  constexpr bool isEmpty() const noexcept { return head() == 0; }
  constexpr bool isFull() const noexcept { return at(kPlaces - 1) != 0; }
  constexpr int waiting() const noexcept {
    int count = 0;
    while (count < kPlaces && at(count) != 0) ++count;
    return count;
  }
  constexpr bool isQueued(ProcessSlot whose) const noexcept {
    for (int i = 0; i < kPlaces; ++i) {
      if (at(i) == whose) return true;
    }
    return false;
  }
  /// Only when there is room.
  constexpr OwnerWord queued(ProcessSlot whose) const noexcept {
    return OwnerWord(bits_ | Bits{whose} << (kFifoAt + kProcessBits * waiting()));
  }
  /// Without this process slot in the fifo, and without a gap there, whatever somebody has scribbled.
  constexpr OwnerWord without(ProcessSlot whose) const noexcept {
    OwnerWord rest(bits_ & ~kFifo);
    for (int i = 0; i < kPlaces; ++i) {
      if (at(i) != 0 && at(i) != whose) rest = rest.queued(at(i));
    }
    return rest;
  }

 private:
  static constexpr int kAgentAt = 2;
  static constexpr int kProcessAt = 25;
  static constexpr int kProcessBits = 7;
  static constexpr int kFifoAt = 32;
  static constexpr Bits kProcessMask = 127;
  static constexpr Bits kFifo = ((Bits{1} << kProcessBits * kPlaces) - 1) << kFifoAt;

  Bits bits_ = 0;
};

}  // namespace boxoffice::host
