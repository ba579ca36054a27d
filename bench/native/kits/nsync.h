// Google's nsync.
#pragma once

#include <nsync_cpp.h>
#include <nsync_cv.h>
#include <nsync_mu.h>

#include "kits/monitor.h"

namespace bench {

struct Nsync {
  static constexpr const char* kName = "nsync";

  class Mutex {
   public:
    void lock() { nsync::nsync_mu_lock(&mutex_); }
    void unlock() { nsync::nsync_mu_unlock(&mutex_); }
    bool tryLock() { return nsync::nsync_mu_trylock(&mutex_) != 0; }

   private:
    friend struct Nsync;
    nsync::nsync_mu mutex_{};
  };

  class Condition {
   public:
    void wait(Mutex& held) { nsync::nsync_cv_wait(&condition_, &held.mutex_); }
    void notifyOne() { nsync::nsync_cv_signal(&condition_); }

   private:
    nsync::nsync_cv condition_{};
  };

  class RWLock {
   public:
    void lockRead() { nsync::nsync_mu_rlock(&mutex_); }
    void unlockRead() { nsync::nsync_mu_runlock(&mutex_); }
    void lockWrite() { nsync::nsync_mu_lock(&mutex_); }
    void unlockWrite() { nsync::nsync_mu_unlock(&mutex_); }

   private:
    nsync::nsync_mu mutex_{};
  };

  using RecursiveMutex = monitor::RecursiveMutex<Mutex>;
  using AutoResetEvent = monitor::AutoResetEvent<Mutex, Condition>;
  using DiningPhilosophers = monitor::DiningPhilosophers<Mutex, Condition>;
};

}  // namespace bench
