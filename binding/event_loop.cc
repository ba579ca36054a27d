#include "event_loop.h"

#include "event_loop_registry.h"

namespace boxoffice::binding {

thread_local const EventLoop* EventLoop::current = nullptr;

EventLoop::EventLoop(napi_env env, ThreadWakeup& wakeup)
    : env_(env),
      callbacks_(env),
      regions_(env),
      shares_(env, regions_),
      hosts_(env, *this, regions_),
      keepAlive_(callbacks_, hosts_, wakeup),
      tickets_(shares_),
      completions_(tickets_),
      inbox_(*this, wakeup) {}

EventLoop::~EventLoop() { giveAgentId(id_); }

void EventLoop::start(napi_value completions, napi_value onWakeup, napi_value probe) {
  std::size_t length = 0;
  std::int32_t* const buffer = memoryOf(env_, completions, length);
  if (length < Completions::kSize) {
    throw Napi::RangeError::New(env_, "too little room for completions");
  }
  completions_.attach(buffer);
  callbacks_.start(completions, onWakeup, probe);
  eventLoopRegistry().join(*this);
}

void EventLoop::wake(Waiter& w, Wake how) noexcept {
  // During this loop's own turn no wake-up is needed, because the call that has caused the wake returns its
  // completions.
  if (current != this) return inbox_.post(w, how);
  w.how = how;
  collect();  // a waiter that another thread admitted earlier comes first
  completions_.append(w);
}

void EventLoop::collect() noexcept {
  inbox_.collect([this](Waiter& w) { completions_.append(w); });
}

// JavaScript fetches the completions itself. If it can no longer run, they stay here, and end() passes the grants on.

void EventLoop::onWakeup() noexcept {
  collect();
  callbacks_.callOnWakeup();
}

bool EventLoop::onHostWakeup(host::Membership& membership) noexcept {
  {
    const Turn turn(this);
    membership.help();
  }
  if (!completions_.isEmpty()) callbacks_.callOnWakeupFromLoop();
  return keepAlive_.keepsThread();
}

bool EventLoop::mayBeWoken() noexcept {
  // The order matters. A loop posts before it leaves the registry, and calls wakeLater afterwards, so that
  // JavaScript asks again when it has read those completions.
  return eventLoopRegistry().hasOtherThreads() || !inbox_.isQuiet();
}

}  // namespace boxoffice::binding
