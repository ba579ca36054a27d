#include "waiting/thread_agent.h"

namespace boxoffice {
namespace {

struct ThreadAgent {
  ThreadAgent() : id(takeAgentId()) {}
  ~ThreadAgent() { giveAgentId(id); }
  ThreadAgent(const ThreadAgent&) = delete;
  ThreadAgent& operator=(const ThreadAgent&) = delete;

  const AgentId id;
};

}  // namespace

AgentId threadAgent() {
  thread_local const ThreadAgent agent;
  return agent.id;
}

}  // namespace boxoffice
