#include "host/segment_handle.h"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "host/lock_kinds.h"
#include "platform/process_wide.h"

namespace boxoffice::host {
namespace {

std::atomic<void (*)() noexcept> removalListener{nullptr};

}  // namespace

/// Every handle. The mutex serializes joining, opening and releasing.
struct SegmentHandle::Register {
  std::mutex mutex;
  std::map<Segment*, SegmentHandle*> all;
};

SegmentHandle::Register& SegmentHandle::all() { return processWide<Register>(); }

SegmentHandle::Pointer SegmentHandle::of(const std::string& directory,
                                         const SegmentOptions& options) {
  // Not in the register, because one copy of this library makes that for all copies, and each copy has its own
  // cleaners.
  [[maybe_unused]] static const bool isSet = (setEvicts(), true);
  Register& reg = all();
  const std::lock_guard guard(reg.mutex);
  std::shared_ptr<Membership> membership = Membership::in(directory);
  Segment& segment = membership->open(options);
  const auto known = reg.all.try_emplace(&segment, nullptr).first;
  if (!known->second) {
    try {
      known->second = new SegmentHandle(std::move(membership), segment);
    } catch (...) {
      reg.all.erase(known);
      throw;
    }
  }
  ++known->second->uses_;
  return Pointer(known->second);
}

void SegmentHandle::Release::operator()(SegmentHandle* handle) const noexcept {
  Register& reg = all();
  const std::lock_guard guard(reg.mutex);
  if (--handle->uses_ > 0) return;
  reg.all.erase(&handle->segment_);
  delete handle;
}

SegmentHandle::SegmentHandle(std::shared_ptr<Membership> membership, Segment& segment)
    : membership_(std::move(membership)), segment_(segment) {
  if (isKeyed(segment.kind())) {
    keys_.emplace(KeyArea(segment.view()), keyLocksOf(segment.kind()), membership_->process(),
                  [this](std::uint32_t rows) {
                    if (!segment_.grow(rows)) throw membership_->removed(segment_);
                  });
  }
  membership_->setListener(segment, this);
}

SegmentHandle::~SegmentHandle() { membership_->setListener(segment_, nullptr); }

std::uint32_t SegmentHandle::pin(std::string_view key) {
  if (!keys_) throwMisuse(Fault::badArgument, "this segment has no keys");
  return keys_->pin(key);
}

std::uint32_t SegmentHandle::pin() {
  if (keys_) throwMisuse(Fault::badArgument, "this segment has keys");
  return 0;
}

Digest SegmentHandle::unpin(std::uint32_t slot) noexcept {
  return keys_ ? keys_->unpin(slot) : Digest{};
}

bool SegmentHandle::pinAgain(std::uint32_t slot, const Digest& digest) {
  if (!keys_) throwMisuse(Fault::badArgument, "this segment has no keys");
  return keys_->pinAgain(slot, digest);
}

bool SegmentHandle::carries(std::uint32_t slot, std::string_view key) const {
  if (!keys_) throwMisuse(Fault::badArgument, "this segment has no keys");
  return keys_->carries(slot, key);
}

void SegmentHandle::notified(std::uint32_t slot) noexcept {
  host::notified(segment_.kind(), segment_.slot(slot));
}

void SegmentHandle::setRemovalListener(void (*listener)() noexcept) noexcept {
  removalListener = listener;
}

bool SegmentHandle::holds() const {
  if (isGate(segment_.kind())) return false;
  bool isHeld = false;
  const auto look = [&](std::uint32_t slot) {
    withLock(segment_.kind(), segment_.slot(slot), [&](auto& lock) {
      lock.eachHolder(
          [&](ProcessSlot process) { isHeld = isHeld || process == membership_->process(); });
    });
  };
  if (!keys_) {
    look(0);
  } else {
    keys_->forEachBusy([&](std::uint32_t slot, const std::string&, bool) { look(slot); });
  }
  return isHeld;
}

void SegmentHandle::rescan() noexcept {
  if (segment_.isGone() && !std::exchange(isTold_, true)) {
    if (const auto listener = removalListener.load()) listener();
  }
  if (!keys_) return notified(0);
  keys_->forEachPinned([this](std::uint32_t slot) { notified(slot); });
}

}  // namespace boxoffice::host
