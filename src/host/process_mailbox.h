// The wake-up of a process: a mailbox of slots to look at, in the members file. Any process notifies, its
// owner's wake-up thread alone collects. Other threads of the owner may help: they take messages, and nothing else.
//
//            notify: post, then sleepState := notified          collect: sleepState := awake, then empty the mailbox
//   awake ──────────────────────────────▶ notified ──────────────────────────────────────────▶ awake
//     │ trySleep: only if still awake                                                             ▲
//     └─────────────────────────▶ asleep ──notify: sleepState := notified, and a byte for the FIFO────────┘
//
// No notify is lost: its exchange of sleepState comes before the owner's store of awake, which then finds what was
// posted before; or before the owner's compare-and-swap to asleep, which then fails; or after it, and then
// the notifier finds asleep and writes the byte. All of it is sequentially consistent.
// A mailbox without room makes the owner look at everything.
//
// Whoever takes a message looks at its slot after the exchange, and so after what the one who posted it has
// changed; whoever finds the same message there need not post it again, and whoever finds none does. So a message
// that a helper took is one that the wake-up thread need not find.
#pragma once

#include "host/layout.h"

namespace boxoffice::host {

/// True when a byte must be written to the FIFO.
[[nodiscard]] inline bool wakeIfAsleep(Member& member) noexcept {
  return member.sleepState.exchange(kWoken) == kAsleep;
}

/// When that byte could not be written: the next who notifies tries again.
inline void takeBackWake(Member& member) noexcept {
  std::uint32_t notified = kWoken;
  member.sleepState.compare_exchange_strong(notified, kAsleep);
}

/// Posts a slot. True as for wakeIfAsleep.
[[nodiscard]] inline bool notify(Member& member, std::uint32_t segment,
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

/// Makes the owner look at everything. True as for wakeIfAsleep.
[[nodiscard]] inline bool postAll(Member& member) noexcept {
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

/// Empties the mailbox of the caller, the wake-up thread: `hear(segment, slot)` for each message, or `hearAll()`.
template <class Deliver, class DeliverAll>
void collect(Member& member, Deliver&& deliver, DeliverAll&& deliverAll) {
  member.sleepState.store(kAwake);
  const bool all = member.overflow.exchange(0) != 0;
  takeMessages(member, [&](std::uint32_t segment, std::uint32_t slot) {
    if (!all) deliver(segment, slot);
  });
  if (all) deliverAll();
}

/// Before the owner sleeps; false when it must collect first.
inline bool trySleep(Member& member) noexcept {
  std::uint32_t awake = kAwake;
  return member.sleepState.compare_exchange_strong(awake, kAsleep);
}

}  // namespace boxoffice::host
