#include "event_loop.h"

#include "misuse.h"
#include "mutex.h"

namespace boxoffice::binding {
namespace {

void check(napi_env env, napi_status status) {
  if (status != napi_ok) throw Napi::Error::New(env);
}

/// An Int32Array's memory. Not through its ArrayBuffer: Node 20 cannot give us a shared one.
std::int32_t* memory(napi_env env, napi_value array, std::size_t& length) {
  napi_typedarray_type type{};
  void* data = nullptr;
  check(env, napi_get_typedarray_info(env, array, &type, &length, &data, nullptr, nullptr));
  if (type != napi_int32_array) {
    throw Napi::TypeError::New(env, "a lock's word lies in an Int32Array");
  }
  return static_cast<std::int32_t*>(data);
}

}  // namespace

thread_local const EventLoop* EventLoop::current = nullptr;

EventLoop::EventLoop(napi_env env) : env_(env) {}

EventLoop::~EventLoop() { giveAgentId(id_); }

void EventLoop::start(napi_value news, napi_value onNews) {
  std::size_t length = 0;
  newsBuffer_ = memory(env_, news, length);
  if (length < kMostNews) throw Napi::RangeError::New(env_, "too little room for news");
  check(env_, napi_create_reference(env_, news, 1, &newsArray_));
  startBell(onNews);
  const auto onEnd = [](void* loop) { static_cast<EventLoop*>(loop)->end(); };
  check(env_, napi_add_env_cleanup_hook(env_, onEnd, this));
}

std::int32_t EventLoop::attach(napi_value int32Array, bool isShared) {
  Region region;
  region.isShared = isShared;
  region.words = memory(env_, int32Array, region.length);
  if (const auto known = known_.find(region.words); known != known_.end()) {
    Region& again = regions_[static_cast<std::size_t>(known->second)];
    if (!std::exchange(again.isOrphan, false)) ++again.uses;
    return known->second;
  }
  if (freeRegions_.empty()) {
    if (regions_.size() == kMostRegions) throw Misuse(Fault::overflow, "too many shared locks");
    freeRegions_.reserve(regions_.size() + 1);
    regions_.emplace_back();
    freeRegions_.push_back(static_cast<std::int32_t>(regions_.size() - 1));
  }
  check(env_, napi_create_reference(env_, int32Array, 1, &region.array));
  const std::int32_t number = freeRegions_.back();
  known_[region.words] = number;
  freeRegions_.pop_back();
  regions_[static_cast<std::size_t>(number)] = region;
  return number;
}

std::int32_t EventLoop::detach(std::int32_t region) {
  word(region << kIndexBits);
  Region& gone = regions_[static_cast<std::size_t>(region)];
  if (gone.uses == 1 && gone.isShared && reinterpret_cast<Mutex*>(gone.words)->owner() == id_) {
    gone.isOrphan = true;  // should we die, then the next one must get it
    return 1;
  }
  if (--gone.uses > 0) return gone.uses;
  check(env_, napi_delete_reference(env_, gone.array));
  known_.erase(gone.words);
  gone = {};
  freeRegions_.push_back(region);
  return 0;
}

void* EventLoop::word(std::int32_t place) const {
  // Unsigned, so that what is negative is out of bounds, too.
  const auto number = static_cast<std::uint32_t>(place) >> kIndexBits;
  const auto index = static_cast<std::uint32_t>(place) & ((1U << kIndexBits) - 1);
  if (number >= regions_.size() || index >= regions_[number].length) {
    throw Misuse(Fault::badArgument, "no lock's word lies there");
  }
  return regions_[number].words + index;
}

Waiter& EventLoop::take() {
  const Ticket ticket = tickets_.take();
  if (ticket >= stands_.size()) stands_.resize(ticket + 1);
  Waiter& w = tickets_.waiter(ticket);
  w.parker = this;
  w.agent = id_;
  return w;
}

void EventLoop::give(Waiter& w) {
  stands_[w.ticket] = {};
  tickets_.give(w.ticket);
}

std::int32_t EventLoop::news() {
  std::int32_t count = 0;
  while (firstNews_ && count < kMostNews) {
    Waiter& w = *std::exchange(firstNews_, firstNews_->posted);
    const auto ticket = static_cast<std::int32_t>(w.ticket) << 2;
    if (w.how == Wake::admitted) {
      newsBuffer_[count++] = ticket | (w.abandoned ? kAdmittedAbandoned : kAdmitted);
      give(w);
    } else {
      newsBuffer_[count++] = ticket | kInvited;
      stands_[w.ticket].told = true;
    }
  }
  return count;
}

void EventLoop::noteLeaver(Waiter& w, Leave how) noexcept {
  const bool awake = how == Leave::leftAwake;
  leavers_.push_back(static_cast<std::int32_t>(w.ticket << 1) | (awake ? 1 : 0));
  awake ? leftAwake(w) : give(w);
}

std::int32_t EventLoop::leavers() {
  std::int32_t count = 0;
  while (leaversTold_ < leavers_.size() && count < kMostNews) {
    newsBuffer_[count++] = leavers_[leaversTold_++];
  }
  if (leaversTold_ == leavers_.size()) {
    leavers_.clear();
    leaversTold_ = 0;
  }
  return count;
}

void EventLoop::append(Waiter& w) noexcept {
  w.posted = nullptr;
  (firstNews_ ? lastNews_->posted : firstNews_) = &w;
  lastNews_ = &w;
}

void EventLoop::wake(Waiter& w, Wake how) noexcept {
  // In our own turn the wake comes from a call that is about to return: no bell is needed.
  if (current != this) return mailbox_.wake(w, how);
  w.how = how;
  append(w);
}

}  // namespace boxoffice::binding
