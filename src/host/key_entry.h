// The key table's data in shared memory: buckets, and an entry in the slot of each lock.
//
//   bucket  control  version (56 bits) | entry that is about to be admitted, + 1 (8 bits, 0: none)
//           touched  entries that were claimed at least once: all others are EMPTY
//           tags     16 bits of each entry's digest: hints, written at each claim
//   entry   state    stamp (48 bits) | process slot (8) | status (8); each change makes another stamp
//           digest   of its key, while LIVE or LEAVING
//           pins     a bit for each process that uses this entry, or is looking at it
//   text    the beginning of the key, as far as it fits, for listings
//
// Every value read here may be corrupt, so check its bounds before using it as an index.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "host/sip_hash.h"

namespace boxoffice::host {

using ProcessSlot = std::uint8_t;

constexpr std::uint32_t kBucketEntries = 64;

/// Words of shared memory, with the same layout in every process that maps it.
using Word16 = std::atomic<std::uint16_t>;
using Word64 = std::atomic<std::uint64_t>;
static_assert(Word16::is_always_lock_free && Word64::is_always_lock_free);
static_assert(sizeof(Word16) == 2 && sizeof(Word64) == 8);

struct alignas(64) KeyBucket {
  Word64 control;
  Word64 touched;
  alignas(64) std::array<Word16, kBucketEntries> tags;
};
static_assert(sizeof(KeyBucket) == 192);

/// A bit for each process slot.
struct SharedProcessSet {
  std::array<Word64, 2> words;

  bool has(ProcessSlot process) const noexcept {
    return (word(process).load() & bit(process)) != 0;
  }
  bool empty() const noexcept { return words[0].load() == 0 && words[1].load() == 0; }
  void add(ProcessSlot process) noexcept { word(process).fetch_or(bit(process)); }
  void remove(ProcessSlot process) noexcept { word(process).fetch_and(~bit(process)); }

 private:
  static std::uint64_t bit(ProcessSlot process) noexcept {
    return std::uint64_t{1} << (process & 63);
  }
  Word64& word(ProcessSlot process) noexcept { return words[process >> 6 & 1]; }
  const Word64& word(ProcessSlot process) const noexcept { return words[process >> 6 & 1]; }
};

enum class KeyStatus : std::uint8_t { empty, claimed, live, leaving };

/// The state of an entry, and its successors.
struct KeyState {
  std::uint64_t bits = 0;

  KeyStatus status() const noexcept { return static_cast<KeyStatus>(bits & 0xFF); }
  ProcessSlot process() const noexcept { return static_cast<ProcessSlot>(bits >> 8 & 0xFF); }
  bool is(KeyStatus wanted) const noexcept { return status() == wanted; }
  bool is(KeyStatus wanted, ProcessSlot whose) const noexcept {
    return is(wanted) && process() == whose;
  }

  KeyState next(KeyStatus to, ProcessSlot by = 0) const noexcept {
    return {((bits >> 16) + 1) << 16 | std::uint64_t{by} << 8 | static_cast<std::uint64_t>(to)};
  }
};

struct KeyEntry {
  Word64 state;
  std::array<Word64, 2> digest;
  SharedProcessSet pins;

  KeyState now() const noexcept { return {state.load()}; }

  /// Changes the state from `from` to `to`. If it is no longer `from`, sets `from` to the current state and returns
  /// false.
  bool change(KeyState& from, KeyState to) noexcept {
    return state.compare_exchange_strong(from.bits, to.bits);
  }
  // Only the claimer of the entry writes the digest, and the state publishes it: a process that sees LIVE
  // sees the digest.
  bool carries(const Digest& wanted) const noexcept {
    return digest[0].load(std::memory_order_relaxed) == wanted[0] &&
           digest[1].load(std::memory_order_relaxed) == wanted[1];
  }
  /// The digest of its key. Valid only while the entry is pinned.
  Digest carried() const noexcept {
    return {digest[0].load(std::memory_order_relaxed), digest[1].load(std::memory_order_relaxed)};
  }
  void label(const Digest& as) noexcept {
    digest[0].store(as[0], std::memory_order_relaxed);
    digest[1].store(as[1], std::memory_order_relaxed);
  }
};
static_assert(sizeof(KeyEntry) == 40);

/// A length byte and some bytes of text in shared memory. Another process may write the text during a read, which the
/// reader finds out afterwards by the state. A reader that sees a byte of that text (acquire) also sees the claim
/// that came before it (release).
class KeyText {
 public:
  KeyText(std::byte* at, std::size_t size) noexcept : at_(at), room_(size - 1) {}

  /// Writes as many whole UTF-8 characters as fit. A text that is cut ends with an ellipsis.
  void write(std::string_view text) noexcept {
    const std::size_t most = std::min<std::size_t>(room_, 0xFF);
    const std::string_view mark = text.size() > most ? kCut : "";
    std::size_t length = std::min(text.size(), most - mark.size());
    while (!mark.empty() && length > 0 && isInside(text[length])) --length;
    put(0, static_cast<std::uint8_t>(length + mark.size()));
    for (std::size_t i = 0; i < length; ++i) put(i + 1, static_cast<std::uint8_t>(text[i]));
    for (std::size_t i = 0; i < mark.size(); ++i) {
      put(length + i + 1, static_cast<std::uint8_t>(mark[i]));
    }
  }
  /// Whether a text ends with the ellipsis of a cut text.
  static bool isMarked(std::string_view text) noexcept { return text.ends_with(kCut); }
  std::string read() const {
    std::string text(std::min<std::size_t>(get(0), room_), '\0');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(get(i + 1));
    return text;
  }

 private:
  static constexpr std::string_view kCut = "\xE2\x80\xA6";

  /// Whether this is a continuation byte of UTF-8.
  static bool isInside(char byte) noexcept {
    return (static_cast<std::uint8_t>(byte) & 0xC0) == 0x80;
  }
  // A std::atomic in place, like the other words of the segment. std::atomic_ref needs libc++ 19.
  using Byte = std::atomic<std::uint8_t>;
  static_assert(sizeof(Byte) == 1 && Byte::is_always_lock_free);

  Byte& byte(std::size_t i) const noexcept { return *reinterpret_cast<Byte*>(at_ + i); }
  void put(std::size_t i, std::uint8_t value) noexcept {
    byte(i).store(value, std::memory_order_release);
  }
  std::uint8_t get(std::size_t i) const noexcept { return byte(i).load(std::memory_order_acquire); }

  std::byte* at_;
  std::size_t room_;
};

}  // namespace boxoffice::host
