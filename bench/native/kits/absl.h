// Abseil.
#pragma once

#include <absl/synchronization/mutex.h>

#include "kits/monitor.h"

namespace bench {

struct Absl {
  static constexpr const char* kName = "absl";

  class Mutex {
   public:
    void lock() { mutex_.Lock(); }
    void unlock() { mutex_.Unlock(); }
    bool tryLock() { return mutex_.TryLock(); }

   private:
    friend struct Absl;
    absl::Mutex mutex_;
  };

  class Condition {
   public:
    void wait(Mutex& held) { condition_.Wait(&held.mutex_); }
    void notifyOne() { condition_.Signal(); }

   private:
    absl::CondVar condition_;
  };

  class RWLock {
   public:
    void lockRead() { mutex_.ReaderLock(); }
    void unlockRead() { mutex_.ReaderUnlock(); }
    void lockWrite() { mutex_.WriterLock(); }
    void unlockWrite() { mutex_.WriterUnlock(); }

   private:
    absl::Mutex mutex_;
  };

  using RecursiveMutex = monitor::RecursiveMutex<Mutex>;
  using AutoResetEvent = monitor::AutoResetEvent<Mutex, Condition>;
  using DiningPhilosophers = monitor::DiningPhilosophers<Mutex, Condition>;
};

}  // namespace bench
