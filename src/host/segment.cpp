#include "host/segment.h"

#include <utility>

#include "host/segment_map.h"
#include "platform/misuse.h"

namespace boxoffice::host {

Segment::Segment(Membership& membership, const Members& members, std::string name, std::string path,
                 const SegmentView& view)
    : membership_(membership),
      members_(members),
      name_(std::move(name)),
      path_(std::move(path)),
      view_(view),
      reads_(strideOf(view.kind) == sizeof(RWLockSlot) ? view.plan.slots : 0) {
  mapSegment(reinterpret_cast<const std::byte*>(view.header), view.plan.fileSize, this);
}

Segment::~Segment() {
  unmapSegment(reinterpret_cast<const std::byte*>(view_.header), view_.plan.fileSize);
  retire(view_);
}

void Segment::checkSame(const SegmentOptions& options) const {
  if (isKeyed(options.kind) && options.capacity != 0 && options.capacity != capacity()) {
    throwMisuse(Fault::mismatch, "'" + name_ + "' exists with a capacity of " +
                                     std::to_string(capacity()) + " keys, not " +
                                     std::to_string(options.capacity) +
                                     "; construct it alike everywhere, or choose another name");
  }
  if ((isSemaphore(options.kind) || isGate(options.kind)) && options.start != start()) {
    throw OtherStart("'" + name_ + "' exists with another value",
                     static_cast<std::uint32_t>(start()));
  }
}

std::byte* Segment::slot(std::uint32_t index) const {
  std::byte* const slot = view_.slot(index);
  if (!slot) throwMisuse(Fault::badArgument, "the segment has no slot of that number");
  return slot;
}

std::uint32_t Segment::slotOf(const void* address) const noexcept {
  return static_cast<std::uint32_t>((static_cast<const std::byte*>(address) - view_.slots) /
                                    static_cast<std::ptrdiff_t>(view_.plan.stride));
}

bool Segment::hasListener() noexcept {
  const std::lock_guard guard(listenerMutex_);
  return listener_ != nullptr;
}

void Segment::setListener(SegmentListener* listener) noexcept {
  const std::lock_guard guard(listenerMutex_);
  listener_ = listener;
}

void Segment::deliver(std::uint32_t slot) noexcept {
  const std::lock_guard guard(listenerMutex_);
  // The slot number comes from the members file, which may be corrupt.
  if (listener_ && slot < view_.allocatedSlots()) listener_->notified(slot);
}

void Segment::rescan() noexcept {
  const std::lock_guard guard(listenerMutex_);
  if (listener_) listener_->rescan();
}

}  // namespace boxoffice::host
