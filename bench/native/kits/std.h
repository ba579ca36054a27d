// The standard library.
#pragma once

#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <shared_mutex>

#include "kits/monitor.h"

namespace bench {

struct Std {
  static constexpr const char* kName = "std";

  using Mutex = std::mutex;

  class RecursiveMutex : public std::recursive_mutex {
   public:
    bool tryLock() { return try_lock(); }
  };

  class RWLock {
   public:
    void lockRead() { mutex_.lock_shared(); }
    void unlockRead() { mutex_.unlock_shared(); }
    void lockWrite() { mutex_.lock(); }
    void unlockWrite() { mutex_.unlock(); }

   private:
    std::shared_mutex mutex_;
  };

  class Condition {
   public:
    void wait(Mutex& held) {
      std::unique_lock guard(held, std::adopt_lock);
      condition_.wait(guard);
      guard.release();  // the caller holds it again
    }
    void notifyOne() { condition_.notify_one(); }

   private:
    std::condition_variable condition_;
  };

  using AutoResetEvent = monitor::AutoResetEvent<Mutex, Condition>;
  using DiningPhilosophers = monitor::DiningPhilosophers<Mutex, Condition>;

  class Semaphore {
   public:
    void wait() { semaphore_.acquire(); }
    void signal() { semaphore_.release(); }

   private:
    std::counting_semaphore<> semaphore_{0};
  };
};

}  // namespace bench
