#include "watched_threads.h"

#include <cstdint>

#include "exports.h"
#include "platform/process_wide.h"

namespace boxoffice::binding {

void WatchedThreads::join(AgentId agent, std::int32_t thread) {
  const std::lock_guard guard(mutex_);
  threads_[agent] = thread;
}

void WatchedThreads::leave(AgentId agent) noexcept {
  const std::lock_guard guard(mutex_);
  threads_.erase(agent);
}

std::map<AgentId, std::int32_t> WatchedThreads::all() const {
  const std::lock_guard guard(mutex_);
  return threads_;
}

WatchedThreads& watchedThreads() { return processWide<WatchedThreads>(); }

namespace {

/// (threadId): answers questions about its watched locks from now on.
std::int32_t watchThread(const Call& call) {
  watchedThreads().join(call.loop().id(), call.integer(0));
  return 0;
}

/// An array of agent, threadId, agent, threadId ...
napi_value watched(const Call& call) {
  const Napi::Env env(call.env());
  Napi::Array all = Napi::Array::New(env);
  for (const auto& [agent, thread] : watchedThreads().all()) {
    all[all.Length()] = Napi::Number::New(env, agent);
    all[all.Length()] = Napi::Number::New(env, thread);
  }
  return all;
}

/// (place): where it lies in memory, which is the same for all threads.
double addressOf(const Call& call) {
  return static_cast<double>(
      reinterpret_cast<std::uintptr_t>(call.loop().regions().word(call.integer(0))));
}

}  // namespace

void defineWatchedThreads(Exports& exports) {
  exports.add<watchThread>("watchThread");
  exports.add<watched>("watchedThreads");
  exports.add<addressOf>("addressOf");
}

}  // namespace boxoffice::binding
