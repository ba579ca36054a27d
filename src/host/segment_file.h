// The file of a segment: creation, validation, mapping, and clean-up after a dead process. segment.h and
// membership.h call these.
//
// A file that is truncated while it is mapped ends the process by SIGBUS, as any mapped file does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "host/segment_plan.h"
#include "platform/files.h"

namespace boxoffice::host {

/// The parts of a segment in memory. Their contents are not trusted; their sizes are.
struct SegmentView {
  SegmentHeader* header = nullptr;
  KeyBucket* buckets = nullptr;
  std::byte* slots = nullptr;
  Plan plan{};
  Kind kind{};
  std::int64_t start = 0;
  std::uint32_t id = 0;
  platform::FileId file{};

  /// With keys: the allocated rows of slots. The header may be corrupt.
  std::uint32_t rows() const noexcept { return std::min(header->rows.load(), kBucketEntries); }
  /// How many slots have memory.
  std::uint32_t allocatedSlots() const noexcept {
    return plan.buckets == 0 ? plan.slots : rows() * plan.buckets;
  }

  /// The slot of that number; null when there is none.
  std::byte* slot(std::uint32_t index) const noexcept {
    return index < plan.slots ? slots + std::size_t{index} * plan.stride : nullptr;
  }
};

/// Undoes what a dead process left in a segment, except its bit in `users`. Idempotent: each step is one
/// compare-and-swap, which finds nothing to do the second time. Afterwards the caller notifies every process,
/// and each looks at everything.
using Evict = void (*)(const SegmentView& segment, ProcessSlot dead);

/// Sets how segments of this kind are cleaned. Must precede the first open.
void setEvict(Kind kind, Evict evict) noexcept;

struct SegmentOptions {
  Kind kind{};
  std::string name;
  std::uint32_t capacity = 0;  ///< 0: the capacity of the file, or defaultCapacity for a new one
  std::int64_t start = 0;      ///< as in the header
};

/// Throws Misuse(badArgument) for an unknown kind, a kind without an Evict, and for a
/// capacity above kMaxCapacity.
void checkOptions(const SegmentOptions& options);

/// A function that does what Membership::ifDead does.
using IfDead = std::function<bool(ProcessSlot process, const std::function<void()>& use)>;

/// Maps the file of this path and adds `process` to its users. Makes the file if there is none: at `aside`
/// first, which only this process uses. An event, a latch or a barrier without a living user begins anew.
/// Throws HostError(segment) when the file is invalid.
SegmentView openSegmentFile(const SegmentOptions& options, const std::string& path,
                            const std::string& aside, ProcessSlot process, const IfDead& ifDead);
/// Allocates the first `rows` rows of slots. Returns false when the file is no longer at its path. Throws
/// HostError(segment) when there is no room on the disk.
bool growSegmentFile(const SegmentView& view, std::uint32_t rows, const std::string& path);
/// Keeps the mapping for the next open of the file, because workers that start and end open the same files again
/// and again.
void retire(const SegmentView& view) noexcept;

/// Cleans up after a dead process in a mapped segment. Returns whether it had the segment open.
bool evictFrom(const SegmentView& view, ProcessSlot dead);
/// Cleans up in a file that this process does not have open. Throws HostError when this process cannot open the file,
/// but other processes may have it open.
bool evictInFile(const platform::File& directory, const std::string& name, ProcessSlot dead);

}  // namespace boxoffice::host
