#include "host/tenancy.h"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "host/host_locks.h"
#include "platform/process_wide.h"

namespace boxoffice::host {
namespace {

std::atomic<void (*)() noexcept> theftListener{nullptr};
std::atomic<void (*)() noexcept> removalListener{nullptr};

}  // namespace

/// All that there are. Joining, opening and letting go are one at a time.
struct Tenancy::Register {
  std::mutex mutex;
  std::map<Segment*, Tenancy*> all;
};

Tenancy::Register& Tenancy::all() { return processWide<Register>(); }

Tenancy::Lease Tenancy::of(const std::string& directory, const SegmentOptions& options) {
  // Not in the register, which is made by one of the copies of this library: each has its own.
  [[maybe_unused]] static const bool isSet = (setEvicts(), true);
  Register& reg = all();
  const std::lock_guard guard(reg.mutex);
  std::shared_ptr<House> house = House::in(directory);
  Segment& segment = Segment::open(*house, options);
  const auto known = reg.all.try_emplace(&segment, nullptr).first;
  if (!known->second) {
    try {
      known->second = new Tenancy(std::move(house), segment);
    } catch (...) {
      reg.all.erase(known);
      throw;
    }
  }
  ++known->second->uses_;
  return Lease(known->second);
}

void Tenancy::Quit::operator()(Tenancy* tenancy) const noexcept {
  Register& reg = all();
  const std::lock_guard guard(reg.mutex);
  if (--tenancy->uses_ > 0) return;
  reg.all.erase(&tenancy->segment_);
  delete tenancy;
}

Tenancy::Tenancy(std::shared_ptr<House> house, Segment& segment)
    : house_(std::move(house)), segment_(segment) {
  if (isKeyed(segment.kind())) {
    keys_.emplace(KeyArea(segment.view()), keyLocksOf(segment.kind()), house_->seat());
  }
  segment.setTenant(this);
}

Tenancy::~Tenancy() { segment_.setTenant(nullptr); }

std::uint32_t Tenancy::pin(std::string_view key) {
  if (!keys_) throw Misuse(Fault::badArgument, "this segment has no keys");
  return keys_->pin(key);
}

std::uint32_t Tenancy::pin() {
  if (keys_) throw Misuse(Fault::badArgument, "this segment has keys");
  return 0;
}

Digest Tenancy::unpin(std::uint32_t slot) noexcept { return keys_ ? keys_->unpin(slot) : Digest{}; }

bool Tenancy::pinAgain(std::uint32_t slot, const Digest& digest) {
  if (!keys_) throw Misuse(Fault::badArgument, "this segment has no keys");
  return keys_->pinAgain(slot, digest);
}

void Tenancy::heard(std::uint32_t slot) noexcept {
  withLock(segment_.kind(), segment_.slot(slot), [](auto& lock) { lock.heard(); });
  if (segment_.kind() != Kind::lockManager) return;
  if (!reinterpret_cast<HostRWLock*>(segment_.slot(slot))->takeTheft()) return;
  if (const auto listener = theftListener.load()) listener();
}

void Tenancy::setTheftListener(void (*listener)() noexcept) noexcept { theftListener = listener; }

void Tenancy::setRemovalListener(void (*listener)() noexcept) noexcept {
  removalListener = listener;
}

bool Tenancy::holds() const {
  bool isHeld = false;
  const auto look = [&](std::uint32_t slot) {
    withLock(segment_.kind(), segment_.slot(slot), [&](auto& lock) {
      lock.eachHolder([&](Seat seat) { isHeld = isHeld || seat == house_->seat(); });
    });
  };
  if (!keys_) {
    look(0);
  } else {
    keys_->forEachBusy([&](std::uint32_t slot, const std::string&) { look(slot); });
  }
  return isHeld;
}

void Tenancy::rescan() noexcept {
  if (segment_.isGone() && !std::exchange(isTold_, true)) {
    if (const auto listener = removalListener.load()) listener();
  }
  if (!keys_) return heard(0);
  keys_->forEachPinned([this](std::uint32_t slot) { heard(slot); });
}

}  // namespace boxoffice::host
