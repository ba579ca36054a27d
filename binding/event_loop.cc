#include "event_loop.h"

#include "instances.h"
#include "neighbours.h"

namespace boxoffice::binding {
namespace {

void check(napi_env env, napi_status status) {
  if (status != napi_ok) throw Napi::Error::New(env);
}

}  // namespace

thread_local const EventLoop* EventLoop::current = nullptr;

EventLoop::EventLoop(napi_env env, Instances& instances)
    : env_(env),
      instances_(instances),
      regions_(env),
      shares_(env, regions_),
      hosts_(env, *this, regions_) {}

EventLoop::~EventLoop() { giveAgentId(id_); }

void EventLoop::anchorAt(napi_value anchor) {
  const auto onGone = [](napi_env, void* loop, void*) {
    auto& self = *static_cast<EventLoop*>(loop);
    self.instances_.end(self);
  };
  check(env_, napi_add_finalizer(env_, anchor, this, onGone, nullptr, &anchor_));
}

void EventLoop::start(napi_value news, napi_value onNews, napi_value look) {
  std::size_t length = 0;
  newsBuffer_ = memoryOf(env_, news, length);
  if (length < kEras + kMostNews) throw Napi::RangeError::New(env_, "too little room for news");
  napi_value anchor = nullptr;
  check(env_, napi_get_reference_value(env_, anchor_, &anchor));
  check(env_, napi_set_named_property(env_, anchor, "newsArray", news));
  check(env_, napi_set_named_property(env_, anchor, "look", look));
  check(env_, napi_set_named_property(env_, anchor, "onNews", onNews));
  check(env_, napi_create_reference(env_, look, 0, &look_));
  check(env_, napi_create_reference(env_, onNews, 0, &onNews_));
  neighbours().join(*this);
}

bool EventLoop::Termination::isRequested() noexcept {
  if (wasRequested_) return true;
  const napi_env env = loop_.env_;
  napi_handle_scope scope = nullptr;
  wasRequested_ = true;
  if (napi_open_handle_scope(env, &scope) != napi_ok) return true;
  napi_value look = nullptr;
  napi_value receiver = nullptr;
  napi_get_reference_value(env, loop_.look_, &look);
  napi_get_undefined(env, &receiver);
  wasRequested_ = napi_call_function(env, receiver, look, 0, nullptr, nullptr) != napi_ok;
  napi_close_handle_scope(env, scope);
  return wasRequested_;
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
      newsBuffer_[kEras + count] = static_cast<std::int32_t>(w.era);
      newsBuffer_[count++] = ticket | (w.abandoned ? kAdmittedAbandoned : kAdmitted);
      took(w);
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
  collect();  // whoever another thread has let in before hears of it before
  append(w);
}

}  // namespace boxoffice::binding
