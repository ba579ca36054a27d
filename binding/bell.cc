// The bell of an event loop: how another thread gets it to look into its mailbox. One threadsafe
// function per environment, and the mailbox rings it once per burst.
#include "event_loop.h"
#include "neighbours.h"

namespace boxoffice::binding {

void EventLoop::startBell(napi_value onNews) {
  const auto check = [this](napi_status status) {
    if (status != napi_ok) throw Napi::Error::New(env_);
  };
  const auto gone = [](napi_env, void* loop, void*) {
    auto& self = *static_cast<EventLoop*>(loop);
    const std::lock_guard guard(self.bellMutex_);
    self.bell_ = nullptr;
  };
  napi_value name = nullptr;
  check(napi_create_string_utf8(env_, "boxoffice", NAPI_AUTO_LENGTH, &name));
  napi_threadsafe_function bell = nullptr;
  check(napi_create_threadsafe_function(env_, onNews, nullptr, name, 0, 1, this, gone, this, onRing,
                                        &bell));
  // A pending wait keeps the loop alive only where JavaScript says so (keepAlive).
  check(napi_unref_threadsafe_function(env_, bell));
  const std::lock_guard guard(bellMutex_);
  bell_ = bell;
}

void EventLoop::keepAlive(bool alive) {
  if (!bell_) return;
  isKeptAlive_ = alive;
  if (alive) hosts_.listen();
  alive ? napi_ref_threadsafe_function(env_, bell_) : napi_unref_threadsafe_function(env_, bell_);
}

bool EventLoop::hearBell(host::House& house) noexcept {
  {
    const Turn turn(this);
    house.help();
  }
  if (firstNews_) tellNews();
  return isKeptAlive_;
}

/// From the loop itself, with no JavaScript below.
void EventLoop::tellNews() noexcept {
  napi_handle_scope scope = nullptr;
  if (napi_open_handle_scope(env_, &scope) != napi_ok) return;
  napi_value receiver = nullptr;
  napi_value onNews = nullptr;
  napi_get_global(env_, &receiver);
  napi_get_reference_value(env_, onNews_, &onNews);
  // Where JavaScript cannot run any more they stay for end() to pass on.
  if (napi_make_callback(env_, nullptr, receiver, onNews, 0, nullptr, nullptr) ==
      napi_pending_exception) {
    napi_value error = nullptr;
    napi_get_and_clear_last_exception(env_, &error);
    napi_fatal_exception(env_, error);
  }
  napi_close_handle_scope(env_, scope);
}

void EventLoop::ring() noexcept {
  // The lock keeps the environment from taking the bell down between the look and the call, which
  // would abort the process on Node 20 and 22.
  const std::lock_guard guard(bellMutex_);
  ++rings_;
  if (bell_) {
    napi_call_threadsafe_function(bell_, nullptr, napi_tsfn_nonblocking);
  } else {
    farewell_.signal();
  }
}

void EventLoop::lookUp() noexcept {
  const std::lock_guard guard(bellMutex_);
  if (bell_) napi_call_threadsafe_function(bell_, nullptr, napi_tsfn_nonblocking);
}

bool EventLoop::mayHear() {
  // In this order: whoever has left the neighbours has rung before. And has called lookUp after, so that
  // JavaScript asks once more when these news have been read.
  return neighbours().any() || !allRung();
}

void EventLoop::collect() {
  if (mailbox_.collect([this](Waiter& w, Wake) { append(w); })) ++batches_;
}

/// Is everybody who posted through with us? From then on we may be destroyed.
bool EventLoop::allRung() {
  const std::lock_guard guard(bellMutex_);
  return rings_ == batches_;
}

void EventLoop::onRing(napi_env env, napi_value onNews, void* context, void*) {
  if (!env) return;  // the environment is being taken down
  auto& loop = *static_cast<EventLoop*>(context);
  loop.collect();
  napi_value receiver = nullptr;
  napi_get_undefined(env, &receiver);
  // JavaScript fetches the news itself: where it cannot run any more they stay for end() to pass on.
  napi_call_function(env, receiver, onNews, 0, nullptr, nullptr);
}

}  // namespace boxoffice::binding
