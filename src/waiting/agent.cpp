#include "waiting/agent.h"

#include <deque>
#include <mutex>

#include "platform/misuse.h"
#include "platform/process_wide.h"
#include "waiting/thread_agent.h"

namespace boxoffice {
namespace {

class AgentIds {
 public:
  AgentId take() {
    const std::lock_guard guard(mutex_);
    // A word left behind by a dead agent should meet its id again as late as possible.
    if (free_.size() > kRest || (last_ == kMaxAgent && !free_.empty())) {
      const AgentId id = free_.front();
      free_.pop_front();
      return id;
    }
    if (last_ == kMaxAgent) throwMisuse(Fault::overflow, "too many agents live at once");
    return ++last_;
  }

  void give(AgentId id) noexcept {
    const std::lock_guard guard(mutex_);
    free_.push_back(id);
  }

 private:
  static constexpr std::size_t kRest = 1024;

  std::mutex mutex_;
  std::deque<AgentId> free_;
  AgentId last_ = kNoAgent;
};

/// All copies of the library use the same object, so that a thread is the same agent in each of them.
struct Agents {
  AgentIds ids;
  /// A function of the copy that has created this object.
  AgentId (*const ofThisThread)() = threadAgent;
};

Agents& agents() { return processWide<Agents>(); }

}  // namespace

constinit thread_local AgentId cachedAgent = kNoAgent;

AgentId takeAgentId() { return agents().ids.take(); }

void giveAgentId(AgentId id) noexcept { agents().ids.give(id); }

AgentId thisThread() {
  if (cachedAgent == kNoAgent) cachedAgent = agents().ofThisThread();
  return cachedAgent;
}

}  // namespace boxoffice
