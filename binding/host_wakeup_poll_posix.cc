#include <memory>
#include <new>

#include "event_loop.h"
#include "host_wakeup_poll.h"

// The parts of libuv used here; its header does not come with Node-API's. They have not changed
// since its first version; a runtime other than Node may lack them.
struct uv_handle_s;
struct uv_loop_s;
// NOLINTBEGIN(readability-identifier-naming): libuv's names.
extern "C" {
[[gnu::weak]] std::size_t uv_handle_size(int type);
[[gnu::weak]] void uv_handle_set_data(uv_handle_s* handle, void* data);
[[gnu::weak]] void* uv_handle_get_data(const uv_handle_s* handle);
[[gnu::weak]] void uv_unref(uv_handle_s* handle);
[[gnu::weak]] void uv_close(uv_handle_s* handle, void (*onClosed)(uv_handle_s* handle));
[[gnu::weak]] int uv_poll_init(uv_loop_s* loop, uv_poll_s* handle, int descriptor);
[[gnu::weak]] int uv_poll_start(uv_poll_s* handle, int events,
                                void (*onEvent)(uv_poll_s* handle, int status, int events));
[[gnu::weak]] int uv_poll_stop(uv_poll_s* handle);
}
// NOLINTEND(readability-identifier-naming)

namespace boxoffice::binding {
namespace {

constexpr int kPollType = 8;  // UV_POLL
constexpr int kReadable = 1;  // UV_READABLE

uv_handle_s* handleOf(uv_poll_s* poll) { return reinterpret_cast<uv_handle_s*>(poll); }

bool has(napi_env env, napi_value object, const char* name) {
  bool is = true;
  return napi_has_named_property(env, object, name, &is) != napi_ok || is;
}

/// Bun and Deno export these names, too, as functions that end the process: Bun at once, Deno at
/// its end.
bool hasLibuv(napi_env env) {
  if (!uv_handle_size || !uv_handle_set_data || !uv_handle_get_data || !uv_unref || !uv_close ||
      !uv_poll_init || !uv_poll_start || !uv_poll_stop) {
    return false;
  }
  napi_value global = nullptr;
  return napi_get_global(env, &global) == napi_ok && !has(env, global, "Bun") &&
         !has(env, global, "Deno");
}

}  // namespace

HostWakeupPoll* HostWakeupPoll::open(napi_env env, EventLoop& loop, host::Membership& membership) {
  if (!hasLibuv(env)) return nullptr;
  auto* const self = new HostWakeupPoll(env, loop, membership);
  if (self->start()) return self;
  delete self;
  return nullptr;
}

bool HostWakeupPoll::start() {
  uv_loop_s* loop = nullptr;
  if (!wakeup_ || napi_get_uv_event_loop(env_, &loop) != napi_ok) return false;
  // Only libuv knows its size.
  auto memory = std::make_unique<std::byte[]>(uv_handle_size(kPollType));
  auto* const poll = reinterpret_cast<uv_poll_s*>(memory.get());
  const auto onEnd = [](napi_async_cleanup_hook_handle, void* data) {
    auto& self = *static_cast<HostWakeupPoll*>(data);
    if (self.isClosing_) return;
    self.loop_.hosts().forget(self);
    self.close();
  };
  if (napi_add_async_cleanup_hook(env_, onEnd, this, &hook_) != napi_ok) return false;
  if (uv_poll_init(loop, poll, wakeup_.number()) != 0) {
    napi_remove_async_cleanup_hook(hook_);
    return false;
  }
  memory.release();
  poll_ = poll;
  uv_handle_set_data(handleOf(poll_), this);
  // A pending wait keeps the loop alive only if JavaScript requests it (keep_alive.h).
  uv_unref(handleOf(poll_));
  return true;
}

void HostWakeupPoll::listen() noexcept {
  if (listens_) return;
  const auto onEvent = [](uv_poll_s* poll, int, int) {
    static_cast<HostWakeupPoll*>(uv_handle_get_data(handleOf(poll)))->onWakeup();
  };
  listens_ = uv_poll_start(poll_, kReadable, onEvent) == 0;
}

void HostWakeupPoll::onWakeup() noexcept {
  wakeup_.forget();
  if (!loop_.onHostWakeup(membership_)) {
    uv_poll_stop(poll_);
    listens_ = false;
  }
}

void HostWakeupPoll::close() noexcept {
  isClosing_ = true;
  // Closing also stops it.
  uv_close(handleOf(poll_), [](uv_handle_s* handle) {
    auto* const self = static_cast<HostWakeupPoll*>(uv_handle_get_data(handle));
    const napi_async_cleanup_hook_handle done = self->hook_;
    delete[] reinterpret_cast<std::byte*>(handle);
    delete self;
    napi_remove_async_cleanup_hook(done);
  });
}

}  // namespace boxoffice::binding
