// Known faults of Preshing's cpp11-on-multicore and of other libraries' timed semaphores, reduced
// to small programs. Each has a switch that repairs it: the repaired form must pass, which shows
// that relacy finds the fault and not a mistake of the test.
#pragma once

#include "suite.h"

namespace boxoffice::relacy {

template <class T>
using Plain = Atomic<T>;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto acquireRelease = std::memory_order_acq_rel;

/// Readers in the low byte, writers above. The last of several readers wakes a writer, which does
/// not load the word: it sees the other readers' accesses only if the last reader acquired them.
template <bool kFault>
class LastReaderReleases {
 public:
  void lockRead() {
    int word = word_.load(relaxed);
    while (word >= kWriter || !word_.compare_exchange_weak(word, word + 1, acquire, relaxed)) {
      if (word < kWriter) continue;
      rl::yield(1, $);
      word = word_.load(relaxed);
    }
  }
  void unlockRead() {
    if (word_.fetch_sub(1, kFault ? release : acquireRelease) == kWriter + 1) writer_.signal();
  }
  void lockWrite() {
    if (word_.fetch_add(kWriter, acquire) > 0) writer_.wait();
  }
  void unlockWrite() { word_.fetch_sub(kWriter, release); }

 private:
  static constexpr int kWriter = 0x100;

  Plain<int> word_{0};
  Semaphore writer_;
};

template <bool kFault>
struct HandOffToWriter : Suite<HandOffToWriter<kFault>, RelacyPlatform, 3> {
  LastReaderReleases<kFault> lock;
  Payload payload;

  void thread(unsigned index) {
    if (index < 2) {
      lock.lockRead();
      payload.read();
      lock.unlockRead();
    } else {
      lock.lockWrite();
      payload.add();
      lock.unlockWrite();
    }
  }
};

/// Two philosophers between two forks. A philosopher whose neighbour thinks eats at once; with
/// relaxed orders, it synchronizes with no earlier eater.
template <bool kFault>
struct RelaxedPhilosophers : Suite<RelaxedPhilosophers<kFault>, RelacyPlatform, 2> {
  Plain<int> eating{0};
  Payload fork;

  void thread(unsigned index) {
    const int mine = 1 << index;
    int word = eating.load(relaxed);
    for (;;) {
      if (word != 0) {
        rl::yield(1, $);
        word = eating.load(relaxed);
      } else if (eating.compare_exchange_weak(word, mine, kFault ? relaxed : acquire, relaxed)) {
        break;
      }
    }
    fork.add();
    eating.fetch_sub(mine, kFault ? relaxed : release);
  }
};

/// -n: n threads wait. 1: set. A signal that finds the event set does not write the word, so it
/// releases nothing to the next waiter.
template <bool kFault>
class EventThatSkips {
 public:
  void signal() {
    int word = word_.load(relaxed);
    do {
      if (kFault && word == 1) return;
    } while (!word_.compare_exchange_weak(word, word < 1 ? word + 1 : 1, release, relaxed));
    if (word < 0) semaphore_.signal();
  }
  void wait() {
    if (word_.fetch_sub(1, acquire) < 1) semaphore_.wait();
  }
  bool isSet() const { return word_.load(relaxed) == 1; }

 private:
  Plain<int> word_{0};
  Semaphore semaphore_;
};

/// givesBack: a timed-out wait gives its count back even though a signal has already posted for
/// it, and the post stays. waitsForEver: a timed-out wait waits for that post without a deadline,
/// although a later waiter may have taken it.
enum class GiveUp { right, givesBack, waitsForEver };

template <GiveUp kHow>
class TimedSemaphore {
 public:
  bool wait(Deadline deadline) {
    if (count_.fetch_sub(1, acquire) > 0 || semaphore_.waitUntil(deadline)) return true;
    for (;;) {
      int count = count_.load(relaxed);
      while (kHow == GiveUp::givesBack || count < 0) {
        if (count_.compare_exchange_weak(count, count + 1, relaxed)) return false;
      }
      if (semaphore_.waitUntil(kHow == GiveUp::waitsForEver ? kNever : deadline)) return true;
    }
  }
  void signal() {
    if (count_.fetch_add(1, release) < 0) semaphore_.signal();
  }

 private:
  Plain<int> count_{0};
  Semaphore semaphore_;
};

/// One signal lets at most one wait through; the other waits time out.
template <GiveUp kHow>
struct OneSignal : Suite<OneSignal<kHow>, RelacyPlatform, 3> {
  TimedSemaphore<kHow> semaphore;
  int taken = 0;

  void thread(unsigned index) {
    if (index == 0) {
      semaphore.signal();
    } else {
      for (int i = 0; i < 2; ++i) taken += semaphore.wait(RelacyPlatform::kSoon);
    }
  }

  void resumed() { RL_ASSERT(taken <= 1); }
};

/// An event over a condition variable. Without a loop, a spurious wake-up returns unsignalled.
template <bool kFault>
struct EventWithoutLoop : Suite<EventWithoutLoop<kFault>, RelacyPlatform, 2> {
  rl::mutex mutex;
  rl::condition_variable condition;
  bool set = false;

  void thread(unsigned index) {
    mutex.lock($);
    if (index == 0) {
      set = true;
      condition.notify_one($);
    } else {
      while (!set) {
        condition.wait(mutex, $);
        if (kFault) break;
      }
      RL_ASSERT(set);
    }
    mutex.unlock($);
  }
};

}  // namespace boxoffice::relacy
