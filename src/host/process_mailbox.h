// The mailbox of a process: slots to look at, in the members file. Any process notifies; only the owner's
// wake-up thread collects. Other threads of the owner may help: they take messages, and do nothing else.
//
//            notify: post, then sleepState := woken          collect: sleepState := awake, then empty the mailbox
//   awake ──────────────────────────────▶ woken ───────────────────────────────────────────▶ awake
//     │ trySleep: only if still awake       ▲
//     └──────────▶ asleep ──────────────────┘ notify: a byte for the FIFO, then woken()
//
// No message is lost, because everything is sequentially consistent:
//   - If the notifier reads sleepState before the owner stores awake, the owner finds the message.
//   - If the notifier's compare-and-swap to woken comes before the owner's to asleep, the owner's fails.
//   - If it comes after that, the notifier finds asleep and writes the byte.
// A notifier that is stopped or killed on the way does not keep others from waking the owner: it writes its byte
// before it sets woken, which saves the others their byte. The word counts the sleeps, so woken is never written
// into a later sleep.
// When the mailbox is full, the owner looks at everything.
//
// A thread that takes a message looks at its slot after the exchange, and so after the poster's change. A
// poster that finds the same message there need not post it again; a poster that does not find it posts. So
// the wake-up thread does not need a message that a helper took.
#pragma once

#include "host/layout.h"

namespace boxoffice::host {

/// The value of sleepState during a sleep, which a byte in the FIFO must end.
using Sleep = std::uint32_t;
constexpr Sleep kNoSleep = 0;

constexpr std::uint32_t stateOf(std::uint32_t word) noexcept { return word % kSleepStates; }

/// Returns the sleep that the caller must end with a byte and woken(), or kNoSleep when the owner is awake.
[[nodiscard]] inline Sleep wakeIfAsleep(Member& member) noexcept {
  std::uint32_t word = member.sleepState.load();
  while (stateOf(word) == kAwake) {
    if (member.sleepState.compare_exchange_weak(word, word + kWoken)) return kNoSleep;
  }
  return stateOf(word) == kAsleep ? word : kNoSleep;
}

/// Called after the byte was written, so that other notifiers need not write one.
inline void woken(Member& member, Sleep sleep) noexcept {
  member.sleepState.compare_exchange_strong(sleep, sleep - kAsleep + kWoken);
}

/// Posts a slot. Returns what wakeIfAsleep does.
[[nodiscard]] inline Sleep notify(Member& member, std::uint32_t segment,
                                  std::uint32_t slot) noexcept {
  constexpr unsigned kTries = 8;
  const std::uint64_t message = std::uint64_t{segment} << 32 | (slot + 1);
  const auto start = static_cast<unsigned>((message * 0x9E3779B97F4A7C15ULL) >> 58);
  for (unsigned i = 0; i < kTries; ++i) {
    std::uint64_t found = 0;
    Word64& entry = member.mailbox[(start + i) % kMailboxEntries];
    // The owner has yet to take an equal message that lies there, and will do so after the caller's change.
    if (entry.compare_exchange_strong(found, message) || found == message)
      return wakeIfAsleep(member);
  }
  member.overflow.store(1);
  return wakeIfAsleep(member);
}

/// Makes the owner look at everything. Returns what wakeIfAsleep does.
[[nodiscard]] inline Sleep postAll(Member& member) noexcept {
  member.overflow.store(1);
  return wakeIfAsleep(member);
}

/// Empties the mailbox of the caller's process. Calls `deliver(segment, slot)` for each message.
template <class Deliver>
void takeMessages(Member& member, Deliver&& deliver) {
  for (Word64& entry : member.mailbox) {
    if (entry.load() == 0) continue;
    const std::uint64_t message = entry.exchange(0);
    const auto slot = static_cast<std::uint32_t>(message);
    if (slot != 0) deliver(static_cast<std::uint32_t>(message >> 32), slot - 1);
  }
}

/// Records that the owner is awake.
inline void wakeUp(Member& member) noexcept {
  const std::uint32_t word = member.sleepState.load();
  member.sleepState.store(word - stateOf(word) + kAwake);
}

/// Called on the wake-up thread. Empties its mailbox. Calls `deliver(segment, slot)` for each message, or
/// `deliverAll()`.
template <class Deliver, class DeliverAll>
void collect(Member& member, Deliver&& deliver, DeliverAll&& deliverAll) {
  wakeUp(member);
  const bool all = member.overflow.exchange(0) != 0;
  takeMessages(member, [&](std::uint32_t segment, std::uint32_t slot) {
    if (!all) deliver(segment, slot);
  });
  if (all) deliverAll();
}

/// Called before the owner sleeps. Returns false when it must collect first.
inline bool trySleep(Member& member) noexcept {
  std::uint32_t word = member.sleepState.load();
  if (stateOf(word) != kAwake) return false;
  return member.sleepState.compare_exchange_strong(word, word + kSleepStates + kAsleep);
}

}  // namespace boxoffice::host
