// The state of one segment that all threads of this process share: the table of its keys, and the listener for its
// wake-ups.
//
//             of: the first use                                  the last use is released
//   (none) ──────────────────────────────────▶ a listener ───────────────────────────────▶ (none)
//                joins the membership, opens                     stops listening, and may then
//                the segment, listens to its wake-ups             leave the membership
//
// Every waiter or holder of a slot's lock has pinned that slot. So a process that must look at everything looks at
// its pinned slots.
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
  /// One use of the handle.
  using Pointer = std::unique_ptr<SegmentHandle, Release>;

  /// Returns the handle of the segment in that directory, which all uses share. Throws what Membership::in and
  /// Membership::open throw.
  static Pointer of(const std::string& directory, const SegmentOptions& options);

  Segment& segment() const noexcept { return segment_; }

  /// Returns the slot of that key, which the key keeps until it has been unpinned as often (KeyTable). Only for
  /// segments with keys.
  std::uint32_t pin(std::string_view key);
  /// The only slot of a segment without keys.
  std::uint32_t pin();
  Digest unpin(std::uint32_t slot) noexcept;
  /// See KeyTable. Only for segments with keys.
  bool pinAgain(std::uint32_t slot, const Digest& digest);

  /// Called on the wake-up thread when the file of a segment in use was removed.
  static void setRemovalListener(void (*listener)() noexcept) noexcept;
  /// Whether this process holds any lock of the segment.
  bool holds() const;

  /// See KeyTable. Only for segments with keys.
  bool carries(std::uint32_t slot, std::string_view key) const;

  /// Calls visit(slot, text, isCut) for each lock that is held or waited for, or has a death to report.
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
  bool isTold_ = false;  ///< the removal has been reported; used on the wake-up thread
};

}  // namespace boxoffice::host
