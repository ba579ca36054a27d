// The file of a segment: how it is made, checked, mapped, and cleaned up after a dead process. segment.h and
// membership.h say when.
//
// A file that is truncated while it is mapped ends the process by SIGBUS, as any mapped file does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "host/layout.h"
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

  /// The slot of that number; null when there is none.
  std::byte* slot(std::uint32_t index) const noexcept {
    return index < plan.slots ? slots + std::size_t{index} * plan.stride : nullptr;
  }
};

/// Undoes what a dead process left in a segment, except its bit in `users`. Idempotent: each step is one
/// compare-and-swap, which finds nothing to do the second time. Afterwards every process is notified and
/// looks at everything.
using Evict = void (*)(const SegmentView& segment, ProcessSlot dead);

/// Sets how segments of this kind are cleaned. Must precede the first open.
void setEvict(Kind kind, Evict evict) noexcept;

struct SegmentOptions {
  Kind kind{};
  std::string name;
  std::uint32_t capacity = 0;  ///< 0: whatever the file has, or defaultCapacity when it is made
  std::int64_t start = 0;      ///< a semaphore's initial value
};

/// Throws Misuse(badArgument) for a kind that there is none of or whose cleaning has not been set, and for a
/// capacity above kMaxCapacity.
void checkOptions(const SegmentOptions& options);

/// Maps the file of this path and adds `process` to its users. Makes the file if there is none: at `aside`
/// first, which only this process uses. Throws HostError(segment) when the file is not what it should be.
SegmentView openSegmentFile(const SegmentOptions& options, const std::string& path,
                            const std::string& aside, ProcessSlot process);
/// Keeps the mapping for the next open of the file: workers that come and go open the same files again and
/// again.
void retire(const SegmentView& view) noexcept;

/// Cleans up after a dead process in a mapped segment.
void evictFrom(const SegmentView& view, ProcessSlot dead);
/// The same in a file that this process does not have open.
void evictInFile(const std::string& directory, const std::string& file, ProcessSlot dead);

}  // namespace boxoffice::host
