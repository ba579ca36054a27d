// The faults of Preshing's cpp11-on-multicore, and of timed semaphores elsewhere, in small
// re-statements; each with a switch that sets it right, so that it is the fault that is found and
// not the test.
#pragma once

#include "suite.h"

namespace boxoffice::relacy {

template <class T>
using Plain = Atomic<T>;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto acquireRelease = std::memory_order_acq_rel;

/// Readers in the low byte, writers above. The last of several readers wakes a writer, which then
/// reads no word: it knows only what that last reader knows.
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

/// Two philosophers between two forks. One that finds its neighbour thinking eats at once, and has
/// synchronized with nothing.
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

/// -n: n wait. 1: set. A signal that finds it set leaves the word alone, and its release with it.
template <bool kFault>
class EventThatSkips {
 public:
  void signal() {
    int word = word_.load(relaxed);
    do {
      if (kFault && word == 1) return;
    } while (!word_.compare_exchange_weak(word, word < 1 ? word + 1 : 1, release, relaxed));
    if (word < 0) bouncer_.signal();
  }
  void wait() {
    if (word_.fetch_sub(1, acquire) < 1) bouncer_.wait();
  }
  bool isSet() const { return word_.load(relaxed) == 1; }

 private:
  Plain<int> word_{0};
  Semaphore bouncer_;
};

/// A wait that counts itself out after its deadline whatever has happened: a signal that counted it
/// in has posted for it, and the post stays. Or one that takes the post, but waits for it for ever,
/// when a later waiter was quicker.
enum class GiveUp { right, givesBack, waitsForEver };

template <GiveUp kHow>
class TimedSemaphore {
 public:
  bool wait(Deadline deadline) {
    if (count_.fetch_sub(1, acquire) > 0 || bouncer_.waitUntil(deadline)) return true;
    for (;;) {
      int count = count_.load(relaxed);
      while (kHow == GiveUp::givesBack || count < 0) {
        if (count_.compare_exchange_weak(count, count + 1, relaxed)) return false;
      }
      if (bouncer_.waitUntil(kHow == GiveUp::waitsForEver ? kNever : deadline)) return true;
    }
  }
  void signal() {
    if (count_.fetch_add(1, release) < 0) bouncer_.signal();
  }

 private:
  Plain<int> count_{0};
  Semaphore bouncer_;
};

/// One signal lets one wait through, and the others come back.
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

  void settled() { RL_ASSERT(taken <= 1); }
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
