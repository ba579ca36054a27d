// The locks of scope host, and what segments and key tables need to know of each kind.
#pragma once

#include "host/host_mutex.h"
#include "host/host_platform.h"
#include "host/host_rw_lock.h"
#include "host/host_semaphore.h"
#include "host/key_area.h"

namespace boxoffice::host {

using HostMutex = BasicHostMutex<HostPlatform>;
using HostRWLock = BasicHostRWLock<HostPlatform>;
using HostSemaphore = BasicHostSemaphore<HostPlatform>;

/// Calls use(lock) with the lock of that kind in a slot. Throws Misuse(badArgument) when there is no such
/// kind.
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
  }
  throw Misuse(Fault::badArgument, "there is no such kind of lock");
}

/// What a key table asks the locks of a keyed kind.
KeyLocks keyLocksOf(Kind kind);

/// Sets how the segments of each kind are cleaned after a death. Must precede the first open.
void setEvicts();

}  // namespace boxoffice::host
