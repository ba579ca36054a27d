#include "hosts.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "event_loop_registry.h"
#include "platform/misuse.h"

namespace boxoffice::binding {
namespace {

constexpr std::size_t kRegionBytes = sizeof(std::int32_t) << Regions::kIndexBits;

/// JavaScript sees the lower half of a slot's first word, which has the word's address.
static_assert(std::endian::native == std::endian::little);

std::atomic<std::int32_t> allRemovals{0};

}  // namespace

std::int32_t Hosts::removals() noexcept { return allRemovals; }

std::int32_t Hosts::open(const std::string& directory, const host::SegmentOptions& options) {
  host::SegmentHandle::setRemovalListener([]() noexcept {
    allRemovals.fetch_add(1);
    eventLoopRegistry().wakeAll();
  });
  host::SegmentHandle::Pointer handle = host::SegmentHandle::of(directory, options);
  const auto known = numbers_.find(&handle->segment());
  if (known != numbers_.end()) return known->second;
  const host::Plan& plan = handle->segment().view().plan;
  const std::size_t bytes = std::size_t{plan.slots} * plan.stride;
  std::vector<std::int32_t> regions((bytes + kRegionBytes - 1) / kRegionBytes, kNone);
  listenTo(handle->segment().membership());
  const auto number = static_cast<std::int32_t>(opened_.size());
  opened_.emplace_back();
  numbers_.emplace(&handle->segment(), number);
  opened_.back() = {.handle = std::move(handle), .regions = std::move(regions)};
  return number;
}

void Hosts::listenTo(host::Membership& membership) {
  const auto isOfIt = [&membership](const HostWakeupPoll* poll) {
    return &poll->membership() == &membership;
  };
  if (std::ranges::any_of(polls_, isOfIt)) return;
  polls_.reserve(polls_.size() + 1);
  if (HostWakeupPoll* const poll = HostWakeupPoll::open(env_, loop_, membership))
    polls_.push_back(poll);
}

std::size_t Hosts::check(std::int32_t number) const {
  const auto index = static_cast<std::uint32_t>(number);
  if (index >= opened_.size()) throwMisuse(Fault::badArgument, "there is no such segment");
  return index;
}

host::SegmentHandle& Hosts::at(std::int32_t number) const { return *opened_[check(number)].handle; }

std::int32_t Hosts::wordIndexOf(std::int32_t number, std::uint32_t slot) {
  Opened& opened = opened_[check(number)];
  const host::SegmentView& view = opened.handle->segment().view();
  const std::size_t offset = std::size_t{slot} * view.plan.stride;
  std::int32_t& region = opened.regions[offset / kRegionBytes];
  if (region == kNone) {
    const std::size_t first = offset / kRegionBytes * kRegionBytes;
    const std::size_t bytes = std::size_t{view.plan.slots} * view.plan.stride;
    region =
        regions_.attach(viewOf(env_, view.slots + first, std::min(kRegionBytes, bytes - first)));
  }
  const std::size_t index = offset % kRegionBytes / sizeof(std::int32_t);
  return (region << Regions::kIndexBits) | static_cast<std::int32_t>(index);
}

std::vector<std::int32_t> Hosts::forgetWords(std::int32_t number) {
  std::vector<std::int32_t> gone;
  for (std::int32_t& region : opened_[check(number)].regions) {
    if (region == kNone) continue;
    gone.push_back(region);
    regions_.detach(std::exchange(region, kNone));
  }
  return gone;
}

}  // namespace boxoffice::binding
