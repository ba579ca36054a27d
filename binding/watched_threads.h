// The environments of this process that have locks with diagnostics (lib/diagnostics). A snapshot uses it to know
// whose answers to wait for, and which thread the owner in a word is.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "waiting/agent.h"

namespace boxoffice::binding {

class WatchedThreads {
 public:
  /// Records that the environment of `agent` is the thread with the threadId `thread`.
  void join(AgentId agent, std::int32_t thread);
  /// Called when the environment ends, even if it never joined.
  void leave(AgentId agent) noexcept;
  /// Returns a copy, because threads start and end.
  std::map<AgentId, std::int32_t> all() const;

 private:
  mutable std::mutex mutex_;
  std::map<AgentId, std::int32_t> threads_;
};

WatchedThreads& watchedThreads();

}  // namespace boxoffice::binding
