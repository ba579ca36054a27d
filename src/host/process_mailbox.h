// The wake-up of a process: a mailbox of slots to look at, in the members file. Any process notifies, its
// owner's wake-up thread alone collects. Other threads of the owner may help: they take messages, and nothing else.
//
//            notify: post, then sleepState := notified          collect: sleepState := awake, then empty the mailbox
//   awake ──────────────────────────────▶ notified ──────────────────────────────────────────▶ awake
//     │ trySleep: only if still awake                                                             ▲
//     └──────────▶ asleep ──notify: a byte for the FIFO, then woken: sleepState := notified──────┘
//
// No message is lost: the notifier's look at sleepState comes before the owner's store of awake, which then finds what
// was posted before; or its compare-and-swap comes before the owner's to asleep, which then fails; or its look comes
// after that, and then the notifier finds asleep and writes the byte. All of it is sequentially consistent.
// A notifier that is stopped or killed on the way keeps no other from waking the owner: notified, which saves the
// others their byte, is written after the byte. The word counts the sleeps, so that notified is never written into a
// later one.
// A mailbox without room makes the owner look at everything.
//
// Whoever takes a message looks at its slot after the exchange, and so after what the one who posted it has
// changed; whoever finds the same message there need not post it again, and whoever finds none does. So a message
// that a helper took is one that the wake-up thread need not find.
#pragma once

#include "host/layout.h"

namespace boxoffice::host {

/// A sleep that a byte in the FIFO ends: its word in sleepState.
using Sleep = std::uint32_t;
constexpr Sleep kNoSleep = 0;

constexpr std::uint32_t stateOf(std::uint32_t word) noexcept { return word % kSleepStates; }

/// The sleep that a byte must end, and then woken().
[[nodiscard]] inline Sleep wakeIfAsleep(Member& member) noexcept {
  std::uint32_t word = member.sleepState.load();
  while (stateOf(word) == kAwake) {
    if (member.sleepState.compare_exchange_weak(word, word + kWoken)) return kNoSleep;
  }
  return stateOf(word) == kAsleep ? word : kNoSleep;
}

/// The byte has been written: other notifiers need not write one.
inline void woken(Member& member, Sleep sleep) noexcept {
  member.sleepState.compare_exchange_strong(sleep, sleep - kAsleep + kWoken);
}

/// Posts a slot. As wakeIfAsleep.
[[nodiscard]] inline Sleep notify(Member& member, std::uint32_t segment,
                                  std::uint32_t slot) noexcept {
  constexpr unsigned kTries = 8;
  const std::uint64_t message = std::uint64_t{segment} << 32 | (slot + 1);
  const auto start = static_cast<unsigned>((message * 0x9E3779B97F4A7C15ULL) >> 58);
  for (unsigned i = 0; i < kTries; ++i) {
    std::uint64_t found = 0;
    Word64& entry = member.mailbox[(start + i) % kMailboxEntries];
    // One that lies there already will be collected after what we have changed.
    if (entry.compare_exchange_strong(found, message) || found == message)
      return wakeIfAsleep(member);
  }
  member.overflow.store(1);
  return wakeIfAsleep(member);
}

/// Makes the owner look at everything. As wakeIfAsleep.
[[nodiscard]] inline Sleep postAll(Member& member) noexcept {
  member.overflow.store(1);
  return wakeIfAsleep(member);
}

/// Takes what lies in the mailbox of the caller's process: `hear(segment, slot)` for each message.
template <class Deliver>
void takeMessages(Member& member, Deliver&& deliver) {
  for (Word64& entry : member.mailbox) {
    if (entry.load() == 0) continue;
    const std::uint64_t message = entry.exchange(0);
    const auto slot = static_cast<std::uint32_t>(message);
    if (slot != 0) deliver(static_cast<std::uint32_t>(message >> 32), slot - 1);
  }
}

/// The owner is awake, if it was not.
inline void wakeUp(Member& member) noexcept {
  const std::uint32_t word = member.sleepState.load();
  member.sleepState.store(word - stateOf(word) + kAwake);
}

/// Empties the mailbox of the caller, the wake-up thread: `hear(segment, slot)` for each message, or `hearAll()`.
template <class Deliver, class DeliverAll>
void collect(Member& member, Deliver&& deliver, DeliverAll&& deliverAll) {
  wakeUp(member);
  const bool all = member.overflow.exchange(0) != 0;
  takeMessages(member, [&](std::uint32_t segment, std::uint32_t slot) {
    if (!all) deliver(segment, slot);
  });
  if (all) deliverAll();
}

/// Before the owner sleeps; false when it must collect first.
inline bool trySleep(Member& member) noexcept {
  std::uint32_t word = member.sleepState.load();
  if (stateOf(word) != kAwake) return false;
  return member.sleepState.compare_exchange_strong(word, word + kSleepStates + kAsleep);
}

}  // namespace boxoffice::host
