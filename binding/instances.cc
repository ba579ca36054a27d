#include "instances.h"

#include "check.h"
#include "event_loop.h"
#include "exports.h"

namespace boxoffice::binding {

Instances::Instances(napi_env env) : env_(env), wakeup_(env) {
  const auto onEnd = [](void* instances) { static_cast<Instances*>(instances)->endAll(); };
  check(env_, napi_add_env_cleanup_hook(env_, onEnd, this));
}

Instances::~Instances() = default;

napi_value Instances::begin() {
  const Napi::Object functions = Napi::Object::New(env_);
  wakeup_.expect(all_.size() + 1);
  all_.push_back(std::make_unique<EventLoop>(env_, wakeup_));
  EventLoop& loop = *all_.back();
  const auto onGone = [](napi_env, void* gone, void* instances) {
    static_cast<Instances*>(instances)->end(*static_cast<EventLoop*>(gone));
  };
  try {
    napi_ref anchor = nullptr;
    check(env_, napi_add_finalizer(env_, functions, &loop, onGone, this, &anchor));
    loop.callbacks().anchorAt(anchor);
    Topic exports(functions, loop);
    defineLayout(exports);
    defineEnvironment(exports);
    defineLocks(exports);
    defineRWLocks(exports);
    defineHost(exports);
    defineBarriers(exports);
    defineConditions(exports);
    defineLockManager(exports);
    defineWaitGraph(exports);
    defineLockOrder(exports);
    defineWatchedThreads(exports);
  } catch (...) {
    end(loop);
    throw;
  }
  return functions;
}

void Instances::end(EventLoop& loop) noexcept {
  loop.end();
  wakeup_.forget(loop);
  std::erase_if(all_, [&loop](const auto& each) { return each.get() == &loop; });
}

void Instances::endAll() noexcept {
  for (const auto& loop : all_) loop->end();
}

}  // namespace boxoffice::binding
