// What this process has of one segment, all its threads together: its hand on the table of keys, and the
// ear for the bells of its slots.
//
//             of: the first who wants it                    let go by the last
//   (none) ──────────────────────────────────▶ a tenant ──────────────────────────▶ (none)
//                joins the house, opens the                 hears no bell any more,
//                segment, hears its bells                   then may leave the house
//
// Whoever waits for a lock of a slot, or holds it, has it pinned: so to look at everything is to look at what is
// pinned.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/host_platform.h"
#include "host/house.h"
#include "host/key_table.h"
#include "host/segment.h"

namespace boxoffice::host {

class Tenancy final : private Tenant {
 public:
  struct Quit {
    void operator()(Tenancy* tenancy) const noexcept;
  };
  /// One use of it.
  using Lease = std::unique_ptr<Tenancy, Quit>;

  /// Of the segment in that directory (see House::in and Segment::open, and what they throw). There is one
  /// for all who ask, until all have let go.
  static Lease of(const std::string& directory, const SegmentOptions& options);

  Segment& segment() const noexcept { return segment_; }

  /// The slot of that key, until it has been unpinned as often: see KeyTable. Only where there are keys.
  std::uint32_t pin(std::string_view key);
  /// The only slot, where there are none.
  std::uint32_t pin();
  Digest unpin(std::uint32_t slot) noexcept;
  /// See KeyTable. Only where there are keys.
  bool pinAgain(std::uint32_t slot, const Digest& digest);

  /// Whom to call, on the thread of the bells, when a lock of this process has been stolen.
  static void setTheftListener(void (*listener)() noexcept) noexcept;

  /// Whom to call, on the thread of the bells, when a segment in use turns out to be gone.
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

  Tenancy(std::shared_ptr<House> house, Segment& segment);
  ~Tenancy();

  void heard(std::uint32_t slot) noexcept override;
  void rescan() noexcept override;

  const std::shared_ptr<House> house_;
  Segment& segment_;
  std::optional<KeyTable<HostPlatform>> keys_;
  std::size_t uses_ = 0;
  bool isTold_ = false;  ///< that it is gone; on the thread of the bells
};

}  // namespace boxoffice::host
