#include <pthread.h>

#include <cstdint>
#include <new>

#include "waiting/thread_agent.h"

namespace boxoffice {
namespace {

/// A flag in the value of the key, beside the id: the thread is ending.
constexpr std::uintptr_t kEnding = std::uintptr_t{kMaxAgent} + 1;

extern "C" void endThreadAgent(void* value);

pthread_key_t threadAgentKey() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    if (pthread_key_create(&made, endThreadAgent) != 0) throw std::bad_alloc();
    return made;
  }();
  return key;
}

bool setThreadAgent(std::uintptr_t value) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): never used as a pointer.
  return pthread_setspecific(threadAgentKey(), reinterpret_cast<void*>(value)) == 0;
}

/// Gives the id back when the thread ends. Destructors of thread_local objects may use locks, and some systems call
/// them and this function in any order. So this function asks to be called once more, after all of them.
void endThreadAgent(void* value) {
  const auto bits = reinterpret_cast<std::uintptr_t>(value);
  if ((bits & kEnding) == 0 && setThreadAgent(bits | kEnding)) return;
  giveAgentId(static_cast<AgentId>(bits & kMaxAgent));
  cachedAgent = kNoAgent;
}

}  // namespace

AgentId threadAgent() {
  if (cachedAgent != kNoAgent) return cachedAgent;
  const AgentId id = takeAgentId();
  if (!setThreadAgent(id)) {
    giveAgentId(id);
    throw std::bad_alloc();
  }
  cachedAgent = id;
  return id;
}

}  // namespace boxoffice
