// Where the parts of a segment's file lie, and how much of it is allocated.
#pragma once

#include <bit>
#include <cstdint>

#include "host/layout.h"

namespace boxoffice::host {

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

/// Plans at least twice as many slots as keys, so that a bucket rarely fills before the table does. The number of
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

/// The rows that a new file has: room for a few thousand keys, at the default capacity.
constexpr std::uint32_t kFirstRows = 8;

/// The bytes of the file that must be allocated for that many rows. Without keys: all.
constexpr std::uint64_t allocatedSize(const Plan& plan, std::uint32_t rows) noexcept {
  if (plan.buckets == 0) return plan.fileSize;
  return plan.slotsAt + std::uint64_t{rows} * plan.buckets * plan.stride;
}

constexpr std::uint32_t defaultCapacity(Kind kind) noexcept {
  if (!isKeyed(kind)) return 1;
  return isSemaphore(kind) ? 4096 : kind == Kind::keyedMutex ? 65536 : 16384;
}

}  // namespace boxoffice::host
