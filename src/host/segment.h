// One mapped file: a lock that the processes of a machine share, or a table of such locks. A directory has
// one per kind and name (membership.h).
//
//        Membership::open
//   (no file) ──made aside, filled, linked to its name──▶ there ──mapped, checked──▶ open
//        ▲                                                 ▲                          │
//        └── removed by a user, or from before a restart   └── left open by a dead process: evicted
//
// Invariants:
//   - A process that finds the file by its name finds it complete. Two processes that make it at once both
//     get the file that was linked first.
//   - An opened segment stays mapped, once, until the process ends: views of it in JavaScript stay valid.
//     Its size and the offsets of its parts are read once, checked against the file's own size, and kept
//     here. The file's copies are not read again.
//   - `users` has this process's bit from before it writes to the file until nothing of it
//     is left there. So the clean-up after a dead process reads only files with its bit.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "host/members.h"
#include "host/segment_file.h"

namespace boxoffice::host {

class Membership;

/// Receives a segment's notifications. Called on the membership's wake-up thread or a thread that helps,
/// one call at a time. Must not throw and must not wait.
class SegmentListener {
 public:
  /// A process notified this one about a slot. May be spurious.
  virtual void notified(std::uint32_t slot) noexcept = 0;
  /// Anything may have changed: the listener must check every waiter.
  virtual void rescan() noexcept = 0;

 protected:
  ~SegmentListener() = default;
};

/// Made by Membership::open.
class Segment {
 public:
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

  /// Returns the slot of that number. Throws Misuse(badArgument) when there is none.
  std::byte* slot(std::uint32_t index) const;

  /// For a segment with keys: makes at least `rows` rows of its slots usable. Returns false when the file was
  /// removed. Throws HostError when there is no room for them.
  bool grow(std::uint32_t rows) const { return growSegmentFile(view_, rows, path_); }

  /// Whether this process no longer gets locks of the segment, for one of two reasons. The file, or files of the
  /// membership, were removed: a process that joins now may be granted a lock beside its holder. Or this process can
  /// no longer open the files.
  bool isGone() const noexcept {
    return view_.header->gone.load() != 0 || members_.isGone() || members_.lost();
  }
  /// Records the removal. Returns true the first time in this process, which then notifies every process: the process
  /// that recorded it first may have been stopped or killed before it did.
  bool setGone() noexcept {
    view_.header->gone.store(1);
    return !knowsGone_.exchange(true);
  }
  /// The number of the slot that this address lies in; only for addresses within the slots.
  std::uint32_t slotOf(const void* address) const noexcept;

  /// A fencing token, larger than every token drawn before in this segment and in earlier ones of its name.
  std::uint64_t fence() const noexcept { return view_.header->fence.fetch_add(1) + 1; }

  /// For a read-write lock: how many agents of this process read it. The lock's bucket guards the number.
  std::uint32_t& reads(const void* slot) noexcept { return reads_[slotOf(slot)]; }

  bool hasListener() noexcept;
  /// Called on the wake-up thread, or a thread that helps.
  void deliver(std::uint32_t slot) noexcept;
  /// Called on the wake-up thread.
  void rescan() noexcept;

 private:
  friend class Membership;
  Segment(Membership& membership, const Members& members, std::string name, std::string path,
          const SegmentView& view);

  void checkSame(const SegmentOptions& options) const;
  void setListener(SegmentListener* listener) noexcept;

  Membership& membership_;
  const Members& members_;
  const std::string name_;
  const std::string path_;
  const SegmentView view_;
  std::atomic<bool> knowsGone_{false};
  std::vector<std::uint32_t> reads_;  // by slot; empty unless these are read-write locks
  std::mutex listenerMutex_;          // held while the listener is called
  SegmentListener* listener_ = nullptr;
};

/// The open segment that contains this address, or null. Lock-free and fast, for locks that know only their
/// own address.
Segment* segmentAt(const void* address) noexcept;

}  // namespace boxoffice::host
