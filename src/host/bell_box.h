// The bell of a process: a mailbox of slots to look at, in the members file. Any process rings, its
// owner's bell thread alone collects. Other threads of the owner may help: they take letters, and nothing else.
//
//            ring: post, then doze := rung          collect: doze := awake, then empty the mailbox
//   awake ──────────────────────────────▶ rung ──────────────────────────────────────────▶ awake
//     │ nod: only if still awake                                                             ▲
//     └─────────────────────────▶ asleep ──ring: doze := rung, and a byte for the FIFO────────┘
//
// No ring is lost: its exchange of doze comes before the owner's store of awake, which then finds what was
// posted before; or before the owner's compare-and-swap to asleep, which then fails; or after it, and then
// the ringer finds asleep and writes the byte. All of it is sequentially consistent.
// A mailbox without room makes the owner look at everything.
//
// Whoever takes a letter looks at its slot after the exchange, and so after what the one who posted it has
// changed; whoever finds the same letter there need not post it again, and whoever finds none does. So a letter
// that a helper took is one that the bell thread need not find.
#pragma once

#include "host/layout.h"

namespace boxoffice::host {

/// True when a byte must be written to the FIFO.
[[nodiscard]] inline bool nudge(Member& member) noexcept {
  return member.doze.exchange(kRung) == kAsleep;
}

/// When that byte could not be written: the next who rings tries again.
inline void takeBackNudge(Member& member) noexcept {
  std::uint32_t rung = kRung;
  member.doze.compare_exchange_strong(rung, kAsleep);
}

/// Posts a slot. True as for nudge.
[[nodiscard]] inline bool ring(Member& member, std::uint32_t segment, std::uint32_t slot) noexcept {
  constexpr unsigned kTries = 8;
  const std::uint64_t letter = std::uint64_t{segment} << 32 | (slot + 1);
  const auto start = static_cast<unsigned>((letter * 0x9E3779B97F4A7C15ULL) >> 58);
  for (unsigned i = 0; i < kTries; ++i) {
    std::uint64_t found = 0;
    Word64& entry = member.mailbox[(start + i) % kMailboxEntries];
    // One that lies there already will be collected after what we have changed.
    if (entry.compare_exchange_strong(found, letter) || found == letter) return nudge(member);
  }
  member.overflow.store(1);
  return nudge(member);
}

/// Makes the owner look at everything. True as for nudge.
[[nodiscard]] inline bool ringForAll(Member& member) noexcept {
  member.overflow.store(1);
  return nudge(member);
}

/// Takes what lies in the mailbox of the caller's process: `hear(segment, slot)` for each letter.
template <class Hear>
void takeLetters(Member& member, Hear&& hear) {
  for (Word64& entry : member.mailbox) {
    if (entry.load() == 0) continue;
    const std::uint64_t letter = entry.exchange(0);
    const auto slot = static_cast<std::uint32_t>(letter);
    if (slot != 0) hear(static_cast<std::uint32_t>(letter >> 32), slot - 1);
  }
}

/// Empties the mailbox of the caller, the bell thread: `hear(segment, slot)` for each letter, or `hearAll()`.
template <class Hear, class HearAll>
void collect(Member& member, Hear&& hear, HearAll&& hearAll) {
  member.doze.store(kAwake);
  const bool all = member.overflow.exchange(0) != 0;
  takeLetters(member, [&](std::uint32_t segment, std::uint32_t slot) {
    if (!all) hear(segment, slot);
  });
  if (all) hearAll();
}

/// Before the owner sleeps; false when it must collect first.
inline bool nod(Member& member) noexcept {
  std::uint32_t awake = kAwake;
  return member.doze.compare_exchange_strong(awake, kAsleep);
}

}  // namespace boxoffice::host
