#include "completions.h"

namespace boxoffice::binding {

void Completions::append(Waiter& w) noexcept {
  w.posted = nullptr;
  (first_ ? last_->posted : first_) = &w;
  last_ = &w;
}

std::int32_t Completions::write() {
  std::int32_t count = 0;
  while (first_ && count < kMost) {
    Waiter& w = *takeFirst();
    const auto ticket = static_cast<std::int32_t>(w.ticket) << kWhatBits;
    if (w.how == Wake::admitted) {
      buffer_[count++] = ticket | (w.abandoned ? kAdmittedAbandoned : kAdmitted);
      tickets_.granted(w);
      tickets_.told(w);
      tickets_.give(w);
    } else {
      buffer_[count++] = ticket | kInvited;
      tickets_.waitOf(w).isInvited = true;
    }
  }
  return count;
}

void Completions::noteLeaver(Waiter& w, Leave how) noexcept {
  const std::int32_t invited = how == Leave::leftAwake ? kInvitedLeaver : 0;
  leavers_.push_back(static_cast<std::int32_t>(w.ticket << kLeaverBits) | invited);
  tickets_.left(w, how);
}

std::int32_t Completions::writeLeavers() {
  std::int32_t count = 0;
  while (leaversWritten_ < leavers_.size() && count < kMost) {
    buffer_[count++] = leavers_[leaversWritten_++];
  }
  if (leaversWritten_ == leavers_.size()) {
    leavers_.clear();
    leaversWritten_ = 0;
  }
  return count;
}

}  // namespace boxoffice::binding
