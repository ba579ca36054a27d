// What this process has of one segment, all its threads together: its hand on the table of keys, and the
// loop wake-up for the wake-ups of its slots.
//
//             of: the first who wants it                    let go by the last
//   (none) ──────────────────────────────────▶ a listener ──────────────────────────▶ (none)
//                joins the membership, opens the                 is notified of no wake-up any more,
//                segment, is notified of its wake-ups                   then may leave the membership
//
// Whoever waits for a lock of a slot, or holds it, has it pinned: so to look at everything is to look at what is
// pinned.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/host_platform.h"
#include "host/key_table.h"
#include "host/membership.h"
#include "host/segment.h"

namespace boxoffice::host {

class SegmentHandle final : private SegmentListener {
 public:
  struct Release {
    void operator()(SegmentHandle* handle) const noexcept;
  };
  /// One use of it.
  using Pointer = std::unique_ptr<SegmentHandle, Release>;

  /// Of the segment in that directory (see Membership::in and Segment::open, and what they throw). There is one
  /// for all who ask, until all have let go.
  static Pointer of(const std::string& directory, const SegmentOptions& options);

  Segment& segment() const noexcept { return segment_; }

  /// The slot of that key, until it has been unpinned as often: see KeyTable. Only where there are keys.
  std::uint32_t pin(std::string_view key);
  /// The only slot, where there are none.
  std::uint32_t pin();
  Digest unpin(std::uint32_t slot) noexcept;
  /// See KeyTable. Only where there are keys.
  bool pinAgain(std::uint32_t slot, const Digest& digest);

  /// Whom to call, on the thread of the wake-ups, when a segment in use turns out to be gone.
  static void setRemovalListener(void (*listener)() noexcept) noexcept;
  /// Whether this process holds any of its locks.
  bool holds() const;

  /// visit(slot, text) for each lock that is held or waited for, or has news of a death.
  template <class Visit>
  void forEachBusy(Visit&& visit) const {
    if (keys_) keys_->forEachBusy(visit);
  }

 private:
  struct Register;
  static Register& all();

  SegmentHandle(std::shared_ptr<Membership> membership, Segment& segment);
  ~SegmentHandle();

  void notified(std::uint32_t slot) noexcept override;
  void rescan() noexcept override;

  const std::shared_ptr<Membership> membership_;
  Segment& segment_;
  std::optional<KeyTable<HostPlatform>> keys_;
  std::size_t uses_ = 0;
  bool isTold_ = false;  ///< that it is gone; on the thread of the wake-ups
};

}  // namespace boxoffice::host
