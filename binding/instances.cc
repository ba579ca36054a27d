#include "instances.h"

#include <algorithm>

#include "event_loop.h"
#include "exports.h"

namespace boxoffice::binding {
namespace {

void check(napi_env env, napi_status status) {
  if (status != napi_ok) throw Napi::Error::New(env);
}

}  // namespace

Instances::Instances(napi_env env) : env_(env) {
  start();
  const auto onEnd = [](void* instances) { static_cast<Instances*>(instances)->endAll(); };
  check(env_, napi_add_env_cleanup_hook(env_, onEnd, this));
}

Instances::~Instances() = default;

/// Opens the bell: without a function of JavaScript, which would keep its context.
void Instances::start() {
  const auto gone = [](napi_env, void* instances, void*) {
    auto& self = *static_cast<Instances*>(instances);
    const std::lock_guard guard(self.mutex_);
    self.bell_ = nullptr;
  };
  const auto onRing = [](napi_env env, napi_value, void* instances, void*) {
    if (!env) return;  // the environment is being taken down
    if (EventLoop* const loop = static_cast<Instances*>(instances)->nextRung()) loop->hear();
  };
  // What looks for open handles asks the resource whether it keeps the process alive: jest --detectOpenHandles.
  const auto hasRef = [](napi_env env, napi_callback_info info) -> napi_value {
    void* instances = nullptr;
    napi_value is = nullptr;
    napi_get_cb_info(env, info, nullptr, nullptr, nullptr, &instances);
    napi_get_boolean(env, static_cast<Instances*>(instances)->alive_ > 0, &is);
    return is;
  };
  napi_value resource = nullptr;
  napi_value function = nullptr;
  napi_value name = nullptr;
  check(env_, napi_create_object(env_, &resource));
  check(env_, napi_create_function(env_, "hasRef", NAPI_AUTO_LENGTH, hasRef, this, &function));
  check(env_, napi_set_named_property(env_, resource, "hasRef", function));
  check(env_, napi_create_string_utf8(env_, "boxoffice", NAPI_AUTO_LENGTH, &name));
  check(env_, napi_create_threadsafe_function(env_, nullptr, resource, name, 0, 1, this, gone, this,
                                              onRing, &bell_));
  // A pending wait keeps the loop alive only where JavaScript says so (keepAlive).
  check(env_, napi_unref_threadsafe_function(env_, bell_));
}

napi_value Instances::begin() {
  const Napi::Object functions = Napi::Object::New(env_);
  {
    const std::lock_guard guard(mutex_);
    rung_.reserve(all_.size() + 1);
  }
  all_.push_back(std::make_unique<EventLoop>(env_, *this));
  EventLoop& loop = *all_.back();
  try {
    loop.anchorAt(functions);
    Exports exports(functions, loop);
    defineEnvironment(exports);
    defineLocks(exports);
    defineHost(exports);
    defineBarriers(exports);
    defineConditions(exports);
    defineLockManager(exports);
    defineWaitGraph(exports);
    defineWatchedThreads(exports);
  } catch (...) {
    end(loop);
    throw;
  }
  return functions;
}

void Instances::end(EventLoop& loop) noexcept {
  loop.end();
  {
    const std::lock_guard guard(mutex_);
    std::erase(rung_, &loop);
  }
  std::erase_if(all_, [&loop](const auto& each) { return each.get() == &loop; });
}

void Instances::endAll() noexcept {
  for (const auto& loop : all_) loop->end();
}

void Instances::call(EventLoop& loop) noexcept {
  // The lock keeps the environment from taking the bell down between the look and the call, which
  // would abort the process on Node 20 and 22.
  const std::lock_guard guard(mutex_);
  if (!bell_ || std::ranges::find(rung_, &loop) != rung_.end()) return;
  rung_.push_back(&loop);
  napi_call_threadsafe_function(bell_, nullptr, napi_tsfn_nonblocking);
}

EventLoop* Instances::nextRung() noexcept {
  const std::lock_guard guard(mutex_);
  if (rung_.empty()) return nullptr;
  EventLoop* const loop = rung_.front();
  rung_.erase(rung_.begin());
  return loop;
}

void Instances::keepAlive(bool alive) noexcept {
  if (!bell_) return;
  if (alive && alive_++ == 0) napi_ref_threadsafe_function(env_, bell_);
  if (!alive && --alive_ == 0) napi_unref_threadsafe_function(env_, bell_);
}

}  // namespace boxoffice::binding
