// The owner of a lock of scope host, and the processes that wait for it, in one word. Each change is one
// compare-and-swap, so a process that is killed leaves a valid state.
//
//     63 62 | 61      | 60     | 59 .. 53 ... 38 .. 32     | 31 .. 25     | 24 .. 2 | 1         | 0
//     0     | invited | strict | fifo: four process slots, | process slot | agent   | abandoned | queued
//                                the head in the low bits   └────────── JavaScript sees these ──────────┘
//
//   free              0             * compare-and-swap ▶ held           (* JavaScript makes these steps)
//   held              (s, agent)    * compare-and-swap ▶ free; with `queued` set, C++ unlocks
//   free, queued      queued        * compare-and-swap ▶ held, queued: ahead of the invited head of the fifo
//   owned, ungiven    (s, 0)        process s owns the word and has not given it to one of its agents
//
// fifo: the waiting processes, by process slot. A process that finds no room sets its bit in `overflow`
//     (handoff_queue.h).
// queued: an unlock has to look at the queue. Set whenever the fifo is not empty.
// invited: the word was left free, and the head of the fifo has been notified. Set whenever the word is free and
//     the fifo is not empty.
// strict: a process in the fifo has a waiter with fairness: 'fifo', so the word is always handed over.
// abandoned: the last holder died with the lock, and no later holder has been told yet. Never set while an
//     agent holds the lock.
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
  /// The word while this agent holds the lock and no process waits.
  static constexpr OwnerWord held(ProcessSlot process, AgentId agent) noexcept {
    return OwnerWord().ownedBy(process, agent);
  }

  constexpr Bits bits() const noexcept { return bits_; }
  constexpr bool operator==(const OwnerWord&) const noexcept = default;

  constexpr bool has(Bits flag) const noexcept { return (bits_ & flag) != 0; }
  constexpr OwnerWord with(Bits flag, bool on = true) const noexcept {
    return OwnerWord(on ? bits_ | flag : bits_ & ~flag);
  }

  /// The owner; kNoProcess while the word is free.
  constexpr ProcessSlot process() const noexcept {
    return static_cast<ProcessSlot>(bits_ >> kProcessAt & kProcessMask);
  }
  constexpr AgentId agent() const noexcept {
    return static_cast<AgentId>(bits_ >> kAgentAt & kMaxAgent);
  }
  constexpr bool isFree() const noexcept { return process() == 0; }
  /// Whether process `whose` owns the word and has not given it to an agent.
  constexpr bool isUngiven(ProcessSlot whose) const noexcept {
    return process() == whose && agent() == 0;
  }
  constexpr OwnerWord ownedBy(ProcessSlot whose, AgentId who) const noexcept {
    return OwnerWord((bits_ & ~(kProcessMask << kProcessAt | Bits{kMaxAgent} << kAgentAt)) |
                     Bits{whose} << kProcessAt | Bits{who} << kAgentAt);
  }
  constexpr OwnerWord free() const noexcept { return ownedBy(0, 0); }

  /// The process slot at this place of the fifo; 0 past the end.
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
  /// Returns the word with this process slot at the end of the fifo, which must not be full.
  constexpr OwnerWord queued(ProcessSlot whose) const noexcept {
    return OwnerWord(bits_ | Bits{whose} << (kFifoAt + kProcessBits * waiting()));
  }
  /// Returns the word without this process slot in the fifo. Closes every gap, even one that a corrupt word contains.
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
