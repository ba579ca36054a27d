#include "waiting/agent.h"

#include <mutex>
#include <utility>
#include <vector>

#include "platform/misuse.h"
#include "platform/process_wide.h"
#include "waiting/thread_agent.h"

namespace boxoffice {
namespace {

class AgentIds {
 public:
  AgentId take() {
    const std::lock_guard guard(mutex_);
    // Reuse the id of a dead agent as late as possible, because a stale word may still contain it.
    const std::size_t made = next_.size() - 1;
    if (free_ > kRest || (made == kMaxAgent && free_ > 0)) {
      --free_;
      return std::exchange(first_, next_[first_]);
    }
    if (made == kMaxAgent) throwMisuse(Fault::overflow, "too many agents live at once");
    next_.push_back(kNoAgent);
    return static_cast<AgentId>(next_.size() - 1);
  }

  void give(AgentId id) noexcept {
    const std::lock_guard guard(mutex_);
    next_[id] = kNoAgent;
    (free_++ > 0 ? next_[last_] : first_) = id;
    last_ = id;
  }

 private:
  static constexpr std::size_t kRest = 1024;

  std::mutex mutex_;
  // A queue of the free ids. Each id has a link from the start, because give must not fail.
  std::vector<AgentId> next_{kNoAgent};
  AgentId first_ = kNoAgent;
  AgentId last_ = kNoAgent;
  std::size_t free_ = 0;
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
