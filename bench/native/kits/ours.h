// This library. A kit names the lock types under which the benches know them; it may lack some.
#pragma once

#include "locks/auto_reset_event.h"
#include "locks/dining_philosophers.h"
#include "locks/mutex.h"
#include "locks/recursive_mutex.h"
#include "locks/rw_lock.h"
#include "waiting/lightweight_semaphore.h"

namespace bench {

template <class P>
struct OursOn {
  using Mutex = boxoffice::BasicMutex<P>;
  using RecursiveMutex = boxoffice::BasicRecursiveMutex<P>;
  using AutoResetEvent = boxoffice::BasicAutoResetEvent<P>;
  using RWLock = boxoffice::BasicRWLock<P>;
  using DiningPhilosophers = boxoffice::BasicLockFreeDiningPhilosophers<P>;
  using Semaphore = boxoffice::BasicLightweightSemaphore<P>;
};

struct Ours : OursOn<boxoffice::Platform> {
  static constexpr const char* kName = "ours";
};

struct OursNoSpin : OursOn<boxoffice::NoSpinPlatform> {
  static constexpr const char* kName = "ours_nospin";
};

/// The philosophers' other form, with the table under a mutex.
struct OursGuarded {
  static constexpr const char* kName = "ours_guarded";
  using DiningPhilosophers = boxoffice::DiningPhilosophers;
};

}  // namespace bench
