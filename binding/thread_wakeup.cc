#include "thread_wakeup.h"

#include <algorithm>
#include <utility>

#include "check.h"
#include "event_loop.h"

namespace boxoffice::binding {

ThreadWakeup::ThreadWakeup(napi_env env) : env_(env) {
  openOutside();
  // A runtime other than Node.js may lack the functions that openOutside() uses.
  if (!handle_) check(env_, open());
  // A pending wait keeps the loop alive only if JavaScript requests it (keep_alive.h).
  check(env_, napi_unref_threadsafe_function(env_, handle_));
}

/// Opens the handle outside of the caller's asynchronous context. The handle would keep that context alive, with the
/// store of each AsyncLocalStorage. A callback without an asynchronous context, on a new receiver, has no store.
void ThreadWakeup::openOutside() noexcept {
  const auto onCall = [](napi_env its, napi_callback_info info) -> napi_value {
    void* wakeup = nullptr;
    napi_get_cb_info(its, info, nullptr, nullptr, nullptr, &wakeup);
    static_cast<ThreadWakeup*>(wakeup)->open();
    return nullptr;
  };
  napi_value receiver = nullptr;
  napi_value function = nullptr;
  if (napi_create_object(env_, &receiver) != napi_ok ||
      napi_create_function(env_, nullptr, 0, onCall, this, &function) != napi_ok) {
    return;
  }
  // Deno writes the result in any case.
  napi_value result = nullptr;
  napi_make_callback(env_, nullptr, receiver, function, 0, nullptr, &result);
}

/// Opens the handle without a JavaScript function, because the function would keep its context alive.
napi_status ThreadWakeup::open() noexcept {
  const auto onGone = [](napi_env, void* wakeup, void*) {
    auto& self = *static_cast<ThreadWakeup*>(wakeup);
    const std::lock_guard guard(self.mutex_);
    // Since Node.js 24 a handle that no thread has released outlives its environment.
    napi_release_threadsafe_function(std::exchange(self.handle_, nullptr), napi_tsfn_release);
  };
  const auto onCall = [](napi_env its, napi_value, void* wakeup, void*) {
    if (!its) return;  // the environment is being taken down
    if (EventLoop* const loop = static_cast<ThreadWakeup*>(wakeup)->next()) loop->onWakeup();
  };
  // Tools that look for open handles, such as jest --detectOpenHandles, ask the resource whether it keeps the
  // process alive.
  const auto hasRef = [](napi_env its, napi_callback_info info) -> napi_value {
    void* wakeup = nullptr;
    napi_value is = nullptr;
    napi_get_cb_info(its, info, nullptr, nullptr, nullptr, &wakeup);
    napi_get_boolean(its, static_cast<ThreadWakeup*>(wakeup)->alive_ > 0, &is);
    return is;
  };
  napi_value resource = nullptr;
  napi_value function = nullptr;
  napi_value name = nullptr;
  napi_status status = napi_create_object(env_, &resource);
  if (status != napi_ok) return status;
  status = napi_create_function(env_, "hasRef", NAPI_AUTO_LENGTH, hasRef, this, &function);
  if (status != napi_ok) return status;
  status = napi_set_named_property(env_, resource, "hasRef", function);
  if (status != napi_ok) return status;
  status = napi_create_string_utf8(env_, "boxoffice", NAPI_AUTO_LENGTH, &name);
  if (status != napi_ok) return status;
  return napi_create_threadsafe_function(env_, nullptr, resource, name, 0, 1, this, onGone, this,
                                         onCall, &handle_);
}

void ThreadWakeup::expect(std::size_t loops) {
  const std::lock_guard guard(mutex_);
  woken_.reserve(loops);
}

void ThreadWakeup::wake(EventLoop& loop) noexcept {
  // The mutex keeps the environment from closing the handle between the check and the call, which
  // would abort the process on Node 20 and 22.
  const std::lock_guard guard(mutex_);
  if (!handle_ || std::ranges::find(woken_, &loop) != woken_.end()) return;
  woken_.push_back(&loop);
  napi_call_threadsafe_function(handle_, nullptr, napi_tsfn_nonblocking);
}

void ThreadWakeup::forget(const EventLoop& loop) noexcept {
  const std::lock_guard guard(mutex_);
  std::erase(woken_, &loop);
}

EventLoop* ThreadWakeup::next() noexcept {
  const std::lock_guard guard(mutex_);
  if (woken_.empty()) return nullptr;
  EventLoop* const loop = woken_.front();
  woken_.erase(woken_.begin());
  return loop;
}

void ThreadWakeup::keepAlive(bool alive) noexcept {
  if (!handle_) return;
  if (alive && alive_++ == 0) napi_ref_threadsafe_function(env_, handle_);
  if (!alive && --alive_ == 0) napi_unref_threadsafe_function(env_, handle_);
}

}  // namespace boxoffice::binding
