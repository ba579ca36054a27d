// The environments of this process with watched locks (lib/diagnostics). A snapshot uses it to know
// whose answers to wait for, and which thread an owner in a word is.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "waiting/agent.h"

namespace boxoffice::binding {

class WatchedThreads {
 public:
  /// The environment of `agent` is the thread that JavaScript knows as `thread`.
  void join(AgentId agent, std::int32_t thread);
  /// Called when the environment ends, even if it never joined.
  void leave(AgentId agent) noexcept;
  /// A copy, because threads start and end.
  std::map<AgentId, std::int32_t> all() const;

 private:
  mutable std::mutex mutex_;
  std::map<AgentId, std::int32_t> threads_;
};

WatchedThreads& watchedThreads();

}  // namespace boxoffice::binding
