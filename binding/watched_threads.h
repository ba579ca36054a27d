// Which environments of this process have locks that are watched (lib/diagnostics): whoever wants a picture of all
// of them knows by this whose answers to wait for, and which thread an owner in a word is.
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
  /// It ends; it may never have joined.
  void leave(AgentId agent) noexcept;
  /// A copy: threads come and go.
  std::map<AgentId, std::int32_t> all() const;

 private:
  mutable std::mutex mutex_;
  std::map<AgentId, std::int32_t> threads_;
};

WatchedThreads& watchedThreads();

}  // namespace boxoffice::binding
