// The locks of scope host, and the functions of each kind that segments and key tables need.
#pragma once

#include "host/host_barrier.h"
#include "host/host_condition.h"
#include "host/host_event.h"
#include "host/host_latch.h"
#include "host/host_mutex.h"
#include "host/host_platform.h"
#include "host/host_rw_lock.h"
#include "host/host_semaphore.h"
#include "host/key_area.h"

namespace boxoffice::host {

using HostMutex = BasicHostMutex<HostPlatform>;
using HostRWLock = BasicHostRWLock<HostPlatform>;
using HostSemaphore = BasicHostSemaphore<HostPlatform>;
using HostEvent = BasicHostEvent<HostPlatform>;
using HostLatch = BasicHostLatch<HostPlatform>;
using HostBarrier = BasicHostBarrier<HostPlatform>;
using HostCondition = BasicHostCondition<HostPlatform>;

/// Calls use(lock) with the lock of that kind in a slot. Throws Misuse(badArgument) when there is no such
/// kind of lock that processes hold.
template <class Use>
auto withLock(Kind kind, std::byte* slot, Use&& use) {
  switch (kind) {
    case Kind::mutex:
    case Kind::recursiveMutex:
    case Kind::keyedMutex:
      return use(*reinterpret_cast<HostMutex*>(slot));
    case Kind::semaphore:
    case Kind::keyedSemaphore:
      return use(*reinterpret_cast<HostSemaphore*>(slot));
    case Kind::rwLock:
    case Kind::keyedRWLock:
    case Kind::lockManager:
      return use(*reinterpret_cast<HostRWLock*>(slot));
    default:
      throwMisuse(Fault::badArgument, "there is no such kind of lock");
  }
}

/// Called after a notification of this process for that slot, or a death: makes the changes that are due.
void notified(Kind kind, std::byte* slot) noexcept;

/// The functions of a keyed kind for its key table.
KeyLocks keyLocksOf(Kind kind);

/// Sets how the segments of each kind are cleaned after a death. Must precede the first open.
void setEvicts();

}  // namespace boxoffice::host
