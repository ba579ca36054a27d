// The memory layout of the files of scope host. Processes built at different times, by different compilers,
// must agree on it. Each process checks the layout's number before it uses any other word.
//
//   <dir>/<boot>/members            MembersHeader | Member[0] (unused) | Member[1] … Member[127]
//   <dir>/<boot>/fifo-<slot>        a FIFO (membership.h), on macOS with files beside it (wakeups_select.cpp), on
//                                   Windows a file in its place (wakeups_windows.cpp)
//   <dir>/<boot>/<kind>.<name>.lock
//      SegmentHeader (one page) | KeyBucket[buckets], to a full page | slots, `stride` bytes each
//
// With keys, the slots are rows: row n has entry n of each bucket, slot n * buckets + bucket. The disk blocks
// of the first rows are allocated when the file is made. A process that needs another row allocates it first
// (Segment::grow). The file never shrinks.
//
// <boot> identifies the time since the machine's last boot. Files from before it are never read; the next
// process that joins removes them.
//
// A slot begins with a SlotHead. The kind's own words follow (MutexSlot, RWLockSlot, SemaphoreSlot), then
// the beginning of the key's text, for listings. Events, latches, barriers and condition variables have a
// GateSlot instead.
//
// All fields that change are atomics of 64 or 32 bits, in place: lock-free and address-free on every system
// that has this scope. Any process of the same user may corrupt a file at any time. So code checks a value
// from a file against what this process knows by itself (sizes, numbers of slots) before it uses it as an
// index.
#pragma once

#include <atomic>
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

/// The state of a member's wake-up thread. The word is the number of the thread's sleeps times kSleepStates, plus one
/// of these.
enum SleepState : std::uint32_t {
  kAwake = 0,   ///< will collect its mailbox before it sleeps
  kAsleep = 1,  ///< or about to sleep: a notifier writes a byte into its FIFO
  kWoken = 2,   ///< notified since it was awake: will collect again
  kSleepStates = 4
};

enum MemberState : std::uint32_t { kFree = 0, kJoined = 1 };

/// The record of a process. Only the holder of the process slot's lock writes state and pid.
struct alignas(64) Member {
  Word64 fifo;        ///< identifies its FIFO: the lock of another FIFO says nothing
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
  Word32 bell;    ///< without a meaning: written to by a system call, which all processes learn of
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
  recursiveMutex,
  autoResetEvent,
  manualResetEvent,
  countdownLatch,
  barrier,
  condition
};
constexpr std::uint32_t kKinds = 14;  // 0 is no kind

struct SlotHead {
  Word64 owner;
  Word64 headSince;
  KeyEntry entry;  // unused without keys
  SharedProcessSet overflow;
};

/// The lowest bit of `rest` and of `writeRest`: the holder had released, so its death is not reported. The other bits
/// are the end, in milliseconds of the monotonic clock.
constexpr std::uint64_t kReleased = 1;
/// The milliseconds of `writeRest` and `readRest` begin at this bit. The bits below tell holds of one millisecond apart,
/// so that a hold that takes its end back does not take that of another reader.
constexpr int kRestAt = 11;

struct alignas(128) MutexSlot {
  SlotHead head;
  Word64 rest;         // the end of its holder's minHold: see lib/host/timed_lender.js
  std::byte text[48];  // a byte of length, and the key's first bytes
};

struct alignas(64) RWLockSlot {
  SlotHead head;
  SharedProcessSet readers;
  Word32 upgrader;
  Word32 abandoned;
  Word64 writeRest;  // the end of the last writer's minHold: see lib/host/timed_rw_lock.js
  Word64 readRest;   // the end of the last reader's
  std::byte text[80];
};

struct alignas(256) SemaphoreSlot {
  SlotHead head;
  std::atomic<std::int64_t> value;
  Word32 held[kProcessSlots];
  Word32 abandoned;
  // Of a semaphore with a minHold: see lib/host/timed_semaphore.js.
  Word32 owed;  // units of dead processes, which their next holders keep until `rest`
  Word64 rest;  // the end of the last grant's minHold, in milliseconds; 0: there was none
  Word32 resting[kProcessSlots];    // released units of `held`, before the end of minHold
  std::atomic<std::int64_t> start;  // the initial value
  std::byte text[152];
};

/// An event, a latch, a barrier or a condition variable (host_gate.h). It has no SlotHead and no key.
struct alignas(64) GateSlot {
  Word64 word;
  Word64 parts[kProcessSlots];
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
  std::uint32_t id;          ///< random, never 0: identifies the segment in mailboxes
  std::int64_t start;        ///< a semaphore's initial value; the low half of a gate's word
  std::uint8_t secret[16];   ///< random: the key of the digests
  alignas(64) Word64 fence;  ///< the last fencing token
  alignas(64) SharedProcessSet users;  ///< the processes that have it open
  Word32 gone;                         ///< not 0: the file was removed while a process had it open
  Word32 rows;  ///< with keys: the rows of slots that are allocated; never becomes smaller
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
    case Kind::autoResetEvent:
    case Kind::manualResetEvent:
    case Kind::countdownLatch:
    case Kind::barrier:
    case Kind::condition:
      return sizeof(GateSlot);
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

constexpr bool isGate(Kind kind) noexcept { return kind >= Kind::autoResetEvent; }

constexpr std::uint64_t kMembersMagic = 0x31656369'666f786fULL;  // "oxofice1" in memory
constexpr std::uint64_t kSegmentMagic = 0x316b636f'6c786f62ULL;  // "boxlock1"
/// Raise it when the meaning of a word changes, and for each new kind, because an older process could not clean up
/// such a lock after a death. layoutNumber() notices when the place of a word changes.
constexpr std::uint32_t kVersion = 10;

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
                                 offsetof(SegmentHeader, rows),
                                 sizeof(KeyBucket),
                                 offsetof(KeyBucket, tags),
                                 sizeof(SlotHead),
                                 offsetof(SlotHead, entry),
                                 offsetof(SlotHead, overflow),
                                 sizeof(MutexSlot),
                                 offsetof(MutexSlot, text),
                                 sizeof(RWLockSlot),
                                 offsetof(RWLockSlot, writeRest),
                                 offsetof(RWLockSlot, text),
                                 sizeof(SemaphoreSlot),
                                 offsetof(SemaphoreSlot, held),
                                 offsetof(SemaphoreSlot, owed),
                                 offsetof(SemaphoreSlot, text),
                                 sizeof(GateSlot),
                                 offsetof(GateSlot, parts),
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
static_assert(sizeof(SemaphoreSlot) == 1280);
static_assert(sizeof(GateSlot) == 1088);
static_assert(offsetof(MutexSlot, rest) == 72);
static_assert(offsetof(RWLockSlot, writeRest) == 96 && offsetof(RWLockSlot, readRest) == 104);
static_assert(offsetof(SemaphoreSlot, owed) == 596 && offsetof(SemaphoreSlot, rest) == 600);
static_assert(sizeof(SegmentHeader) <= kPage);
static_assert(std::is_standard_layout_v<MembersFile> && std::is_standard_layout_v<SegmentHeader> &&
              std::is_standard_layout_v<SemaphoreSlot> && std::is_standard_layout_v<RWLockSlot> &&
              std::is_standard_layout_v<MutexSlot> && std::is_standard_layout_v<GateSlot>);
static_assert(std::is_trivially_destructible_v<MembersFile> &&
              std::is_trivially_destructible_v<SemaphoreSlot>);

}  // namespace boxoffice::host
