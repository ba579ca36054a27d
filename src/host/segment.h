// One mapped file: a lock that the processes of a machine share, or a table of such locks. There is one
// per kind and name in a directory (membership.h).
//
//        Segment::open
//   (no file) ──made aside, filled, and linked to its name──▶ there ──mapped, checked──▶ open
//        ▲                                                      ▲                          │
//        └── removed by people, or from before a restart        └── left open by the dead: evicted
//
// Invariants:
//   - whoever finds the file by its name finds it complete: two that make it at once both get the one
//     that was linked first.
//   - one that has been open stays mapped for as long as the process lives, once: views of it that JavaScript
//     has stay good. Its size, and where its parts lie, are read once, checked against the file's own size, and
//     then kept here; the file's copies are not looked at again.
//   - users has our bit before anything else in the file is changed by us, and until nothing is ours
//     there: who cleans up after a dead process looks no further than that.
// A file that is truncated while it is mapped ends the process by SIGBUS, as for any mapped file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "host/layout.h"
#include "platform/files.h"
#include "platform/host_error.h"

namespace boxoffice::host {

class Membership;

/// Who is told that something may have changed. Called on the wake-up thread of the membership, one call at a
/// time. Must not throw and must not wait.
class SegmentListener {
 public:
  /// Somebody rang for this slot. It may be for nothing.
  virtual void notified(std::uint32_t slot) noexcept = 0;
  /// Anything may have changed: look at all that waits.
  virtual void rescan() noexcept = 0;

 protected:
  ~SegmentListener() = default;
};

/// The parts of a segment in memory, to work on. What is in them is an opinion; their sizes are not.
struct SegmentView {
  SegmentHeader* header = nullptr;
  KeyBucket* buckets = nullptr;
  std::byte* slots = nullptr;
  Plan plan{};
  Kind kind{};
  std::int64_t start = 0;
  std::uint32_t id = 0;
  platform::FileId file{};

  /// The slot of this number; null when there is none.
  std::byte* slot(std::uint32_t index) const noexcept {
    return index < plan.slots ? slots + std::size_t{index} * plan.stride : nullptr;
  }
};

/// Undoes whatever the process of that process slot has left in a segment, except its bit in users. It may
/// have been done before, in full or in part: each step is one compare-and-swap that finds nothing to
/// do then. Who waits is told afterwards: everybody looks at everything.
using Evict = void (*)(const SegmentView& segment, ProcessSlot dead);

/// Says how segments of this kind are cleaned. Before the first of them is opened.
void setEvict(Kind kind, Evict evict) noexcept;
Evict evictOf(Kind kind) noexcept;

/// What to open.
struct SegmentOptions {
  Kind kind{};
  std::string name;
  std::uint32_t capacity = 0;  ///< 0: as it is, or defaultCapacity when it is made
  std::int64_t start = 0;      ///< the value of a semaphore at first
};

class Segment {
 public:
  /// The segment, made if there is none; the same one for as long as the membership stands, unless its file was
  /// removed while nobody here used it. Thread-safe. Throws HostError(segment) when the file is not what it
  /// should be, there is no room for it, or it was removed while somebody used it;
  /// Misuse(mismatch) when it has another capacity or start than asked for; Misuse(badArgument) for a
  /// name that is empty or longer than 65,536 bytes, or a capacity beyond kMaxCapacity.
  static Segment& open(Membership& membership, const SegmentOptions& options);

  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  Membership& membership() const noexcept { return membership_; }
  Kind kind() const noexcept { return view_.kind; }
  const std::string& name() const noexcept { return name_; }
  const std::string& path() const noexcept { return path_; }
  SegmentHeader& header() const noexcept { return *view_.header; }
  const SegmentView& view() const noexcept { return view_; }

  std::uint32_t id() const noexcept { return view_.id; }
  std::uint32_t slots() const noexcept { return view_.plan.slots; }
  std::uint32_t stride() const noexcept { return view_.plan.stride; }
  std::uint32_t capacity() const noexcept { return view_.plan.capacity; }
  std::int64_t start() const noexcept { return view_.start; }

  /// The slot of this number; Misuse(badArgument) when there is none.
  std::byte* slot(std::uint32_t index) const;

  /// Whether the file was removed, or files that its membership needs: processes that come now may be let in
  /// beside those that have it open.
  bool isGone() const noexcept;
  /// Writes down that it was. True the first time in this process, which then tells all: the process that wrote
  /// it down first may have been stopped or killed before it told any other.
  bool setGone() noexcept {
    view_.header->gone.store(1);
    return !knowsGone_.exchange(true);
  }
  /// The error for who asks for something of it.
  HostError removed() const;

  /// The number of the slot that this address lies in; only for addresses within the slots.
  std::uint32_t slotOf(const void* address) const noexcept;

  /// A fencing token, larger than all that were drawn before in this segment and in any that had its
  /// name.
  std::uint64_t fence() const noexcept { return view_.header->fence.fetch_add(1) + 1; }

  /// For a read-write lock: how many agents of this process read it. What guards it is up to the lock.
  std::uint32_t& reads(const void* slot) noexcept { return reads_[slotOf(slot)]; }

  /// Who is notified of the wake-ups of this segment; null for nobody. When it returns, the one before is not
  /// being called any more and will not be called again; not to be called on the wake-up thread.
  void setListener(SegmentListener* listener) noexcept;
  bool hasListener() noexcept;
  /// On the wake-up thread, or one that helps.
  void deliver(std::uint32_t slot) noexcept;
  /// On the wake-up thread.
  void rescan() noexcept;

 private:
  friend class Membership;
  Segment(Membership& membership, const SegmentOptions& options, std::string path,
          const SegmentView& view);

  static bool isUsable(Membership& membership, Segment& segment);
  static void checkUsers(const Membership& membership, const std::string& path,
                         const SegmentHeader& header);
  static SegmentView obtain(Membership& membership, const SegmentOptions& options,
                            const std::string& path);
  static void make(Membership& membership, const SegmentOptions& options, const std::string& path);
  void checkSame(const SegmentOptions& options) const;
  /// Takes whatever the dead have there; and in the file of that name, which we do not have open.
  static void evict(const SegmentView& view, ProcessSlot dead);
  static void evictIn(const std::string& directory, const std::string& file, ProcessSlot dead);

  Membership& membership_;
  const std::string name_;
  const std::string path_;
  const SegmentView view_;
  std::atomic<bool> knowsGone_{false};
  std::vector<std::uint32_t> reads_;  // by slot; empty where there are no such locks
  std::mutex listenerMutex_;          // held while the listener is told
  SegmentListener* listener_ = nullptr;
};

/// The open segment whose slots contain this address, null if none does. Lock-free and fast, for locks
/// that know nothing but where they lie.
Segment* segmentAt(const void* address) noexcept;

}  // namespace boxoffice::host
