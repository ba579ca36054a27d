// Tests of the weighted semaphore, apart from main: they also run with weakened memory orders.
#pragma once

#include "suite.h"

namespace boxoffice::relacy {

template <class Test, class P, int kThreads>
struct WeightedSuite : Suite<Test, P, kThreads> {
  static constexpr int kAll = 2;

  BasicWeightedSemaphore<P> semaphore{kAll};
  Payload payload;
  int writes = 0;

  // A holder of the whole value writes; a holder of a part of it reads.
  void use(int weight) {
    if (weight < kAll) {
      payload.read();
    } else {
      payload.add();
      ++writes;
    }
  }

  void resumed() {
    RL_ASSERT(
        (wordOf<P, WeightedSemaphoreRules>(semaphore) == WeightedSemaphoreRules::with(0, kAll)));
    RL_ASSERT(payload.read() == writes);
  }
};

template <class P, int kThreads, bool kTimed>
struct Weights : WeightedSuite<Weights<P, kThreads, kTimed>, P, kThreads> {
  void thread(unsigned index) {
    const int weight = index == 0 ? 2 : 1;
    for (int round = 0; round < 2; ++round) {
      if (!this->semaphore.acquireUntil(kTimed && index < 2 ? P::kSoon : kNever, weight)) continue;
      this->use(weight);
      this->semaphore.release(weight);
    }
  }
};

template <class P>
struct Priorities : WeightedSuite<Priorities<P>, P, 3> {
  void thread(unsigned index) {
    const int weight = index == 2 ? 1 : 2;
    this->semaphore.acquireUntil(kNever, weight, index);
    this->use(weight);
    this->semaphore.release(weight);
  }
};

/// Releases by threads that did not acquire, and a value that starts below zero.
template <class P>
struct Permits : Suite<Permits<P>, P, 4> {
  BasicWeightedSemaphore<P> semaphore{-1};

  void thread(unsigned index) {
    if (index < 2) {
      semaphore.release(2);
    } else {
      semaphore.acquire(index - 1);
    }
  }

  void resumed() { RL_ASSERT((wordOf<P, WeightedSemaphoreRules>(semaphore) == 0)); }
};

/// Setting the value admits the waiters that now fit.
template <class P>
struct ValueSet : Suite<ValueSet<P>, P, 3> {
  BasicWeightedSemaphore<P> semaphore{0};
  Payload payload;

  void thread(unsigned index) {
    if (index == 0) {
      payload.write(1);
      semaphore.setValue(3);
    } else {
      semaphore.acquire(index);
      RL_ASSERT(payload.read() == 1);
    }
  }

  void resumed() { RL_ASSERT((wordOf<P, WeightedSemaphoreRules>(semaphore) == 0)); }
};

}  // namespace boxoffice::relacy
