// A semaphore that enters the kernel only to put a thread to sleep or to wake one.
//
// count_ is the whole state:
//     count_ >  0   that many signals not taken yet
//     count_ == 0   nothing to take, no waiter
//     count_ <  0   that many threads wait in semaphore_ or are on their way there
//
//   wait     count_ - 1; if it was > 0, the thread is admitted; else semaphore_ admits it later
//   signal   count_ + n; if it was < 0, semaphore_ admits min(-count_, n) threads
//   give up  count_ + 1, but only while count_ < 0. Otherwise every waiter has been granted an admission,
//            this one included: it is on its way, and the waiter takes it. There is no third outcome: giving
//            a count back after that would leave a stale admission behind. A later waiter may take the
//            admission first; then count_ is < 0 again, and this waiter leaves after all.
//
// Invariant: signals sent = waits admitted + max(count_, 0) + admissions on their way.
// signal's release pairs with the acquire of the wait that takes the signal, through count_ or through the
// semaphore. Source: Preshing, "Semaphores are surprisingly versatile".
#pragma once

#include <limits>

#include "platform/misuse.h"
#include "waiting/platform.h"
#include "waiting/spin.h"

namespace boxoffice {

template <class P>
class BasicLightweightSemaphore {
 public:
  static constexpr int kMax = std::numeric_limits<int>::max() / 2;

  /// Throws Misuse(badArgument) unless `initial` is in [0, kMax]. Constant-initialised on Linux only, because other
  /// systems need a kernel object.
  constexpr explicit BasicLightweightSemaphore(int initial = 0) : count_(initial) {
    if (initial < 0 || initial > kMax) {
      throwMisuse(Fault::badArgument, "a semaphore starts with a count from 0 to kMax");
    }
  }
  BasicLightweightSemaphore(const BasicLightweightSemaphore&) = delete;
  BasicLightweightSemaphore& operator=(const BasicLightweightSemaphore&) = delete;

  bool tryWait() noexcept {
    int count = count_.load(std::memory_order_relaxed);
    while (count > 0) {
      if (count_.compare_exchange_weak(count, count - 1, std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  /// A Stop (thread_parker.h) does not end a wait for this semaphore, because the parkers of threads use it
  /// themselves.
  void wait() noexcept { waitUntil(kNever); }

  /// As wait. Returns false when `timeout` passed first. A timeout of zero or less never sleeps.
  bool waitFor(Timeout timeout) { return waitUntil(deadlineIn(timeout)); }

  bool waitUntil(Deadline deadline) noexcept {
    if (tryWait()) return true;
    if (deadline != kNever && deadline <= P::now()) return false;
    if (spin_([this]() noexcept { return tryWait(); })) return true;
    if (count_.fetch_sub(1, std::memory_order_acquire) > 0) return true;
    return semaphore_.waitUntil(deadline) || !giveUp();
  }

  /// Throws Misuse(overflow) and changes nothing when the count would pass kMax, and
  /// Misuse(badArgument) for n < 0.
  void signal(int n = 1) {
    if (n < 0) throwMisuse(Fault::badArgument, "a semaphore cannot be signalled n < 0 times");
    int count = count_.load(std::memory_order_relaxed);
    do {
      if (count > kMax - n) throwMisuse(Fault::overflow, "semaphore count above its maximum");
    } while (!count_.compare_exchange_weak(count, count + n, std::memory_order_release,
                                           std::memory_order_relaxed));
    if (count < 0) semaphore_.signal(-count < n ? -count : n);
  }

 private:
  /// Called after a timeout. Returns true when this waiter has left, false when it has already been granted an
  /// admission.
  bool giveUp() noexcept {
    for (;;) {
      int count = count_.load(std::memory_order_relaxed);
      while (count < 0) {
        if (count_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) return true;
      }
      // The signaller is between its count and its post. Sleep until it posts: it may have been
      // preempted there, and a spinning thread could keep it from running. The sleep is bounded,
      // since a later waiter may take that post, and no other one follows.
      if (semaphore_.waitUntil(P::now() + kPostPatience)) return false;
    }
  }

  static constexpr std::chrono::milliseconds kPostPatience{1};

  typename P::template Atomic<int> count_;
  [[no_unique_address]] AdaptiveSpin<P> spin_;
  typename P::Semaphore semaphore_;
};

using LightweightSemaphore = BasicLightweightSemaphore<Platform>;

}  // namespace boxoffice
