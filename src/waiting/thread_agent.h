// How a thread gets an id that it gives back when it ends. For agent.cpp.
#pragma once

#include "waiting/agent.h"

namespace boxoffice {

/// The id of the calling thread, taken at its first call. Only one copy of this library may call it.
AgentId threadAgent();

/// What this copy remembers of it, or kNoAgent.
extern constinit thread_local AgentId cachedAgent;

}  // namespace boxoffice
