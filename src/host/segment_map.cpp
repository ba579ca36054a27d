#include "host/segment_map.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>

#include "host/segment.h"
#include "platform/files.h"
#include "platform/process_wide.h"

namespace boxoffice::host {
namespace {

constexpr unsigned kGrainBits = 16;
static_assert(platform::kMapGrain == std::size_t{1} << kGrainBits);
constexpr unsigned kLeafBits = 10;
constexpr unsigned kBranchBits = 10;
constexpr unsigned kRootBits = platform::kAddressBits - kGrainBits - kLeafBits - kBranchBits;

template <class T, unsigned kBits>
struct Node {
  std::array<std::atomic<T*>, std::size_t{1} << kBits> all{};

  std::atomic<T*>& at(std::uint64_t grain, unsigned shift) noexcept {
    return all[grain >> shift & (all.size() - 1)];
  }
};
using Leaf = Node<Segment, kLeafBits>;
using Branch = Node<Leaf, kBranchBits>;

struct SegmentMap {
  std::mutex mutex;  // held by writers
  // Nodes are never freed: a reader may be in one.
  Node<Branch, kRootBits> root;

  /// The entry of a grain, or null.
  std::atomic<Segment*>* find(std::uint64_t grain) noexcept {
    Branch* const branch = root.at(grain, kLeafBits + kBranchBits).load(std::memory_order_acquire);
    Leaf* const leaf =
        branch ? branch->at(grain, kLeafBits).load(std::memory_order_acquire) : nullptr;
    return leaf ? &leaf->at(grain, 0) : nullptr;
  }

  void prepare(std::uint64_t grain) {
    std::atomic<Branch*>& branch = root.at(grain, kLeafBits + kBranchBits);
    if (!branch.load()) branch.store(new Branch, std::memory_order_release);
    std::atomic<Leaf*>& leaf = branch.load()->at(grain, kLeafBits);
    if (!leaf.load()) leaf.store(new Leaf, std::memory_order_release);
  }
};

SegmentMap& map() { return processWide<SegmentMap>(); }

std::uint64_t grainOf(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) >> kGrainBits;
}

}  // namespace

void mapSegment(const std::byte* begin, std::size_t size, Segment* segment) {
  const std::uint64_t last = grainOf(begin + size - 1);
  // The tree does not cover this address. Systems hand out such addresses only on request.
  if (last >> (platform::kAddressBits - kGrainBits) != 0) throw std::bad_alloc();
  const std::lock_guard guard(map().mutex);
  for (std::uint64_t grain = grainOf(begin); grain <= last; ++grain) map().prepare(grain);
  for (std::uint64_t grain = grainOf(begin); grain <= last; ++grain) {
    map().find(grain)->store(segment, std::memory_order_release);
  }
}

void unmapSegment(const std::byte* begin, std::size_t size) noexcept {
  const std::lock_guard guard(map().mutex);
  for (std::uint64_t grain = grainOf(begin); grain <= grainOf(begin + size - 1); ++grain) {
    map().find(grain)->store(nullptr, std::memory_order_release);
  }
}

Segment* segmentAt(const void* address) noexcept {
  const std::uint64_t grain = grainOf(address);
  if (grain >> (platform::kAddressBits - kGrainBits) != 0) return nullptr;
  const std::atomic<Segment*>* const place = map().find(grain);
  return place ? place->load(std::memory_order_acquire) : nullptr;
}

}  // namespace boxoffice::host
