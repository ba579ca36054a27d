// Tests of the lightweight semaphore, apart from main: they also run with weakened memory orders.
#pragma once

#include "suite.h"

namespace boxoffice::relacy {

/// Every waiter receives a signal, and sees the writes made before it.
template <class P>
struct Signalled : Suite<Signalled<P>, P, 3> {
  BasicLightweightSemaphore<P> semaphore;
  Payload payload;

  void thread(unsigned index) {
    if (index == 0) {
      payload.write(1);
      semaphore.signal(2);
    } else {
      semaphore.wait();
      RL_ASSERT(payload.read() == 1);
    }
  }

  void resumed() { RL_ASSERT(!semaphore.tryWait()); }
};

/// Used as a lock: a signal follows each wait, so the count crosses zero in both directions.
template <class P, int kThreads>
struct SemaphoreAsLock : Suite<SemaphoreAsLock<P, kThreads>, P, kThreads> {
  BasicLightweightSemaphore<P> semaphore{1};
  Payload payload;
  int entries = 0;

  void thread(unsigned index) {
    for (int round = 0; round < 2; ++round) {
      if (semaphore.waitUntil(index == 0 ? P::kSoon : kNever)) {
        payload.add();
        ++entries;
        semaphore.signal();
      }
    }
  }

  void resumed() {
    RL_ASSERT(payload.read() == entries);
    RL_ASSERT(semaphore.tryWait());
    RL_ASSERT(!semaphore.tryWait());
  }
};

/// More timed waits than signals: they all end, and no signal is lost or invented.
template <class P, int kWaiters>
struct TimedWaits : Suite<TimedWaits<P, kWaiters>, P, kWaiters + 1> {
  BasicLightweightSemaphore<P> semaphore;
  int taken = 0;

  void thread(unsigned index) {
    if (index == 0) {
      semaphore.signal();
      return;
    }
    for (int round = 0; round < 2; ++round) taken += semaphore.waitUntil(P::kSoon);
  }

  void resumed() {
    RL_ASSERT(taken + (semaphore.tryWait() ? 1 : 0) == 1);
    RL_ASSERT(!semaphore.tryWait());
    RL_ASSERT(!semaphore.waitUntil(Deadline::min()));
    // A post left behind in the semaphore would admit a waiter without a signal.
    semaphore.signal();
    RL_ASSERT(semaphore.tryWait());
    RL_ASSERT(!semaphore.waitUntil(P::kSoon));
  }
};

/// A timed waiter's timeout must not take the signal of a waiter without a deadline.
template <class P>
struct TimedAndUntimed : Suite<TimedAndUntimed<P>, P, 4> {
  BasicLightweightSemaphore<P> semaphore;
  int taken = 0;

  void thread(unsigned index) {
    if (index == 0) {
      semaphore.signal();
    } else if (index == 1) {
      semaphore.signal(2);
    } else {
      taken += semaphore.waitUntil(index == 2 ? P::kSoon : kNever);
    }
  }

  void resumed() {
    while (semaphore.tryWait()) ++taken;
    RL_ASSERT(taken == 3);
  }
};

}  // namespace boxoffice::relacy
