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

/// (threadId). Records that this environment answers questions about its locks with diagnostics from now on.
void join(const Call& call) { watchedThreads().join(call.loop().id(), call.integer(0)); }

/// An array of agent, threadId, agent, threadId ...
napi_value all(const Call& call) {
  const Napi::Env env(call.env());
  Napi::Array pairs = Napi::Array::New(env);
  for (const auto& [agent, thread] : watchedThreads().all()) {
    pairs[pairs.Length()] = Napi::Number::New(env, agent);
    pairs[pairs.Length()] = Napi::Number::New(env, thread);
  }
  return pairs;
}

}  // namespace

void defineWatchedThreads(Topic exports) {
  Topic threads = exports.topic("watchedThreads");
  threads.add<join>("join");
  threads.add<all>("all");
}

}  // namespace boxoffice::binding
