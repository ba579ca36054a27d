// How the files of scope host lie in memory: the layout that processes built at different times, and by
// different compilers, must agree on. Each process checks the layout's number before it believes a word.
//
//   <dir>/<boot>/members            MembersHeader | Member[0] (unused) | Member[1] … Member[127]
//   <dir>/<boot>/fifo-<slot>        a FIFO (membership.h)
//   <dir>/<boot>/<kind>.<name>.lock
//      SegmentHeader (one page) | KeyBucket[buckets], to a full page | slots, `stride` bytes each
//
// <boot> identifies the time since the machine's last boot. Files from before it are never read; the next
// process that joins removes them.
//
// A slot begins with a SlotHead. The kind's own words follow (MutexSlot, RWLockSlot, SemaphoreSlot), then
// the beginning of the key's text, for listings.
//
// All fields that change are atomics of 64 or 32 bits, in place: lock-free and address-free on every system
// that has this scope. Any process of the same user may write nonsense into a file at any time. So a value
// read from a file is checked against what this process knows by itself (sizes, numbers of slots) before it
// serves as an index.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "host/key_entry.h"

namespace boxoffice::host {

constexpr ProcessSlot kNoProcess = 0;
constexpr ProcessSlot kMaxProcess = 127;  // process slots are 1 to 127; 0 is none
constexpr unsigned kProcessSlots = 128;

using Word32 = std::atomic<std::uint32_t>;
static_assert(Word32::is_always_lock_free && sizeof(Word32) == 4);

// ---- members ----

constexpr unsigned kMailboxEntries = 64;

/// Whether a member's wake-up thread needs a byte in its FIFO to wake. The word counts the thread's sleeps
/// in units of kSleepStates; the remainder is one of these.
enum SleepState : std::uint32_t {
  kAwake = 0,   ///< looks into its mailbox before it sleeps
  kAsleep = 1,  ///< or about to sleep: a notifier that finds this writes a byte
  kWoken = 2,   ///< notified since it was awake: looks again
  kSleepStates = 4
};

enum MemberState : std::uint32_t { kFree = 0, kJoined = 1 };

/// The record of a process. Only the holder of the process slot's lock writes state and pid.
struct alignas(64) Member {
  Word64 fifo;        ///< the inode of its FIFO: the lock of another FIFO says nothing
  Word32 state;       ///< MemberState
  Word32 pid;         ///< in its own pid namespace; for listings only
  Word32 overflow;    ///< not 0: the mailbox was full, so look at everything
  Word32 sleepState;  ///< SleepState, plus the count of sleeps
  /// segment id << 32 | slot + 1; 0 is empty.
  alignas(64) Word64 mailbox[kMailboxEntries];
};

struct alignas(64) MembersHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t layout;
  std::uint64_t fileSize;
  Word64 roster;  ///< incremented by each process that joins
  Word32 gone;    ///< not 0: files of the directory were removed while a process used it
};

struct MembersFile {
  MembersHeader header;
  Member members[kProcessSlots];
};

// ---- segments ----

enum class Kind : std::uint32_t {
  mutex = 1,
  rwLock,
  semaphore,
  keyedMutex,
  keyedRWLock,
  keyedSemaphore,
  lockManager,
  recursiveMutex
};
constexpr std::uint32_t kKinds = 9;  // 0 is no kind

struct SlotHead {
  Word64 owner;
  Word64 headSince;
  KeyEntry entry;  // unused without keys
  SharedProcessSet overflow;
};

struct alignas(128) MutexSlot {
  SlotHead head;
  Word64 rest;         // until when it rests after a death: see lib/host/timed_lender.js
  std::byte text[48];  // a byte of length, and the key's first bytes
};

struct alignas(64) RWLockSlot {
  SlotHead head;
  SharedProcessSet readers;
  Word32 told;
  Word32 upgrader;
  Word32 abandoned;
  std::byte text[92];
};

struct alignas(256) SemaphoreSlot {
  SlotHead head;
  std::atomic<std::int64_t> value;
  Word32 held[kProcessSlots];
  Word32 abandoned;
  std::byte text[172];
};

constexpr std::uint32_t kPage = 4096;

struct SegmentHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t layout;  ///< kLayout of the process that made the file
  std::uint64_t fileSize;
  std::uint32_t kind;      ///< Kind
  std::uint32_t capacity;  ///< keys that may be held or waited for at once; 1 without keys
  std::uint32_t buckets;   ///< 0 without keys
  std::uint32_t slots;
  std::uint32_t stride;
  std::uint32_t id;                    ///< random, never 0: identifies the segment in mailboxes
  std::int64_t start;                  ///< a semaphore's initial value
  std::uint8_t secret[16];             ///< random: the key of the digests
  alignas(64) Word64 fence;            ///< the last fencing token
  alignas(64) SharedProcessSet users;  ///< the processes that have it open
  Word32 gone;                         ///< not 0: the file was removed while a process had it open
};

/// The bytes of a slot of this kind; 0 for an unknown kind.
constexpr std::uint32_t strideOf(Kind kind) noexcept {
  switch (kind) {
    case Kind::mutex:
    case Kind::recursiveMutex:
    case Kind::keyedMutex:
      return sizeof(MutexSlot);
    case Kind::rwLock:
    case Kind::keyedRWLock:
    case Kind::lockManager:
      return sizeof(RWLockSlot);
    case Kind::semaphore:
    case Kind::keyedSemaphore:
      return sizeof(SemaphoreSlot);
  }
  return 0;
}

/// Whether segments of this kind have many locks, found by their key.
constexpr bool isKeyed(Kind kind) noexcept {
  return kind >= Kind::keyedMutex && kind <= Kind::lockManager;
}

constexpr bool isSemaphore(Kind kind) noexcept {
  return kind == Kind::semaphore || kind == Kind::keyedSemaphore;
}

constexpr std::uint64_t kMembersMagic = 0x31656369'666f786fULL;  // "oxofice1" in memory
constexpr std::uint64_t kSegmentMagic = 0x316b636f'6c786f62ULL;  // "boxlock1"
/// Raise it when the meaning of a word changes; layoutNumber() notices when its place does.
constexpr std::uint32_t kVersion = 4;

/// A hash of the sizes and offsets that make up the layout.
constexpr std::uint32_t layoutNumber() noexcept {
  const std::uint64_t facts[] = {sizeof(MembersHeader),
                                 offsetof(MembersHeader, gone),
                                 sizeof(Member),
                                 offsetof(Member, state),
                                 offsetof(Member, mailbox),
                                 sizeof(SegmentHeader),
                                 offsetof(SegmentHeader, kind),
                                 offsetof(SegmentHeader, start),
                                 offsetof(SegmentHeader, fence),
                                 offsetof(SegmentHeader, users),
                                 offsetof(SegmentHeader, gone),
                                 sizeof(KeyBucket),
                                 offsetof(KeyBucket, tags),
                                 sizeof(SlotHead),
                                 offsetof(SlotHead, entry),
                                 offsetof(SlotHead, overflow),
                                 sizeof(MutexSlot),
                                 offsetof(MutexSlot, text),
                                 sizeof(RWLockSlot),
                                 offsetof(RWLockSlot, text),
                                 sizeof(SemaphoreSlot),
                                 offsetof(SemaphoreSlot, held),
                                 offsetof(SemaphoreSlot, text),
                                 kProcessSlots,
                                 kMailboxEntries,
                                 kBucketEntries,
                                 kPage};
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::uint64_t fact : facts) hash = (hash ^ fact) * 0x100000001b3ULL;
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}
constexpr std::uint32_t kLayout = layoutNumber();

static_assert(sizeof(SlotHead) == 72);
static_assert(sizeof(MutexSlot) == 128);
static_assert(sizeof(RWLockSlot) == 192);
static_assert(sizeof(SemaphoreSlot) == 768);
static_assert(sizeof(SegmentHeader) <= kPage);
static_assert(std::is_standard_layout_v<MembersFile> && std::is_standard_layout_v<SegmentHeader> &&
              std::is_standard_layout_v<SemaphoreSlot> && std::is_standard_layout_v<RWLockSlot> &&
              std::is_standard_layout_v<MutexSlot>);
static_assert(std::is_trivially_destructible_v<MembersFile> &&
              std::is_trivially_destructible_v<SemaphoreSlot>);

/// Where a segment's parts lie. Follows from its kind and capacity alone.
struct Plan {
  std::uint32_t capacity;
  std::uint32_t buckets;
  std::uint32_t slots;
  std::uint32_t stride;
  std::uint64_t bucketsAt;
  std::uint64_t slotsAt;
  std::uint64_t fileSize;
};

/// The largest capacity: 2^24 keys, 4 GB of mutexes.
constexpr std::uint32_t kMaxCapacity = std::uint32_t{1} << 24;

/// At least twice as many slots as keys, so that a bucket rarely fills before the table does. The number of
/// buckets is a power of two, so that a mask finds a digest's bucket.
constexpr Plan planOf(Kind kind, std::uint32_t capacity) noexcept {
  const auto toPage = [](std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; };
  Plan plan{};
  plan.stride = strideOf(kind);
  plan.capacity = isKeyed(kind) ? capacity : 1;
  plan.buckets =
      isKeyed(kind) ? std::bit_ceil((2 * capacity + kBucketEntries - 1) / kBucketEntries) : 0;
  plan.slots = isKeyed(kind) ? plan.buckets * kBucketEntries : 1;
  plan.bucketsAt = kPage;
  plan.slotsAt = plan.bucketsAt + toPage(std::uint64_t{plan.buckets} * sizeof(KeyBucket));
  plan.fileSize = plan.slotsAt + toPage(std::uint64_t{plan.slots} * plan.stride);
  return plan;
}

constexpr std::uint32_t defaultCapacity(Kind kind) noexcept {
  if (!isKeyed(kind)) return 1;
  return isSemaphore(kind) ? 4096 : kind == Kind::keyedMutex ? 65536 : 16384;
}

}  // namespace boxoffice::host
