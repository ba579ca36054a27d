// What a process knows by itself of its part in a read-write lock of scope host, by slot. What others know of
// it is in the slot, and when the two differ, the process has been robbed (host_rw_lock.h).
#pragma once

#include <cstdint>

#include "waiting/agent.h"

namespace boxoffice::host {

struct OwnPart {
  std::uint32_t reads = 0;   ///< how many of its agents read
  AgentId writer = kNobody;  ///< which of them writes, having come through ownership
  std::uint32_t lost = 0;    ///< its era: how often what it held has been stolen
  std::uint32_t told = 0;    ///< the era that its agents have been told of
};

}  // namespace boxoffice::host
