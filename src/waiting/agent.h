// Identifies holders and waiters. An agent is a native thread or a JavaScript environment: a holder of locks that
// shares its holds with no other agent.
#pragma once

#include <cstdint>

#include "platform/misuse.h"

namespace boxoffice {

using AgentId = std::uint32_t;

constexpr AgentId kNoAgent = 0;

/// Lock words keep an agent in 26 bits.
constexpr AgentId kMaxAgent = (1U << 26) - 1;

/// Returns `id`. Throws Misuse(badArgument) if a lock word cannot hold it.
inline AgentId checkedAgent(AgentId id) {
  if (id - 1 >= kMaxAgent) throwMisuse(Fault::badArgument, "this is not the id of an agent");
  return id;
}

/// Hands out a small id that no other living agent of this process has.
/// Throws Misuse(overflow) when 2^26 - 1 agents live at once, and std::bad_alloc.
AgentId takeAgentId();

/// Gives an id back. It is reused as late as possible, so that a stale word is not mistaken for a
/// new agent's. The agent must hold nothing and wait for nothing.
void giveAgentId(AgentId id) noexcept;

/// Returns the id of the calling thread, which is the same in all copies of this library. The first call takes it. It
/// is given back when the thread ends, on POSIX after the destructors of its thread_local objects. On Linux these
/// destructors may use locks. Elsewhere only destructors of objects that were created after the first wait of the
/// thread may. A destructor of a pthread key may use locks unless it has asked to be called again. Throws as
/// takeAgentId does.
AgentId thisThread();

}  // namespace boxoffice
