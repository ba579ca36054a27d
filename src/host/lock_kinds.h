// The locks of scope host, and what segments and tables have to know of them by their kind.
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

/// What use(lock) gives, for the lock of that kind in a slot. Misuse(badArgument) when there is no such kind.
template <class Use>
auto withLock(Kind kind, std::byte* slot, Use&& use) {
  switch (kind) {
    case Kind::mutex:
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

/// What a table of keys asks the locks of that kind, which has keys.
KeyLocks keyLocksOf(Kind kind);

/// Says how the segments of each kind are cleaned when a process has died. Before any is opened.
void setEvicts();

}  // namespace boxoffice::host
