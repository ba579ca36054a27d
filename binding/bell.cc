// The bell of an event loop: how another thread gets it to look into its mailbox, which rings it once per burst.
#include "event_loop.h"
#include "instances.h"
#include "neighbours.h"

namespace boxoffice::binding {

void EventLoop::keepAlive(Keep keep) {
  const Keep before = std::exchange(kept_, keep);
  if (before == keep) return;
  if (before == Keep::nothing) napi_reference_ref(env_, anchor_, nullptr);
  if (keep == Keep::nothing) napi_reference_unref(env_, anchor_, nullptr);
  if (keep == Keep::eventLoop) hosts_.listen();
  if (keep == Keep::eventLoop || before == Keep::eventLoop) {
    instances_.keepAlive(keep == Keep::eventLoop);
  }
}

bool EventLoop::hearBell(host::House& house) noexcept {
  {
    const Turn turn(this);
    house.help();
  }
  if (firstNews_) tellNews();
  return kept_ == Keep::eventLoop;
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
  if (onNews && napi_make_callback(env_, nullptr, receiver, onNews, 0, nullptr, nullptr) ==
                    napi_pending_exception) {
    napi_value error = nullptr;
    napi_get_and_clear_last_exception(env_, &error);
    napi_fatal_exception(env_, error);
  }
  napi_close_handle_scope(env_, scope);
}

void EventLoop::ring() noexcept {
  const std::lock_guard guard(bellMutex_);
  ++rings_;
  isEnding_ ? farewell_.signal() : instances_.call(*this);
}

void EventLoop::lookUp() noexcept {
  const std::lock_guard guard(bellMutex_);
  if (!isEnding_) instances_.call(*this);
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

void EventLoop::hear() noexcept {
  collect();
  napi_value receiver = nullptr;
  napi_value onNews = nullptr;
  napi_get_undefined(env_, &receiver);
  napi_get_reference_value(env_, onNews_, &onNews);
  // JavaScript fetches the news itself: where it cannot run any more they stay for end() to pass on.
  if (onNews) napi_call_function(env_, receiver, onNews, 0, nullptr, nullptr);
}

}  // namespace boxoffice::binding
