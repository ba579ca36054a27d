// Tests of latch and barrier, apart from main: they also run with weakened memory orders.
#pragma once

#include "suite.h"

namespace boxoffice::relacy {

/// Two threads count down; two others wait for the latch.
template <class P, bool kTimed>
struct Countdown : Suite<Countdown<P, kTimed>, P, 4> {
  BasicCountdownLatch<P> latch{2};
  Payload payload[2];

  void thread(unsigned index) {
    if (index < 2) {
      payload[index].write(1);
      latch.countDown();
    } else if (latch.waitUntil(kTimed && index == 2 ? P::kSoon : kNever)) {
      RL_ASSERT(payload[0].read() + payload[1].read() == 2);
      RL_ASSERT(latch.tryWait());
    }
  }

  void resumed() { RL_ASSERT((wordOf<P, CountdownLatchRules>(latch) == 0)); }
};

/// In each of two rounds, every thread sees all writes made before it, and exactly one thread is
/// the last to arrive.
template <class P, int kThreads>
struct Rounds : Suite<Rounds<P, kThreads>, P, kThreads> {
  BasicBarrier<P> barrier{kThreads};
  Payload payload[2][kThreads];
  int lasts = 0;

  void thread(unsigned index) {
    for (int round = 0; round < 2; ++round) {
      payload[round][index].write(1);
      const Passage passage = barrier.wait();
      RL_ASSERT(passage == Passage::passed || passage == Passage::last);
      lasts += passage == Passage::last;
      for (Payload& other : payload[round]) RL_ASSERT(other.read() == 1);
    }
  }

  void resumed() {
    RL_ASSERT(lasts == 2);
    RL_ASSERT(barrier.arrived() == 0 && !barrier.isBroken());
  }
};

/// One thread has a deadline: the barrier breaks for all threads or for none.
template <class P>
struct GivingUp : Suite<GivingUp<P>, P, 3> {
  BasicBarrier<P> barrier{3};
  int passed = 0;
  int broken = 0;

  void thread(unsigned index) {
    if (barrier.waitUntil(index == 0 ? P::kSoon : kNever) == Passage::broken) {
      ++broken;
    } else {
      ++passed;
    }
  }

  void resumed() {
    RL_ASSERT(passed == 3 || broken == 3);
    RL_ASSERT(barrier.isBroken() == (broken == 3));
    barrier.reset();
    RL_ASSERT(barrier.arrived() == 0 && !barrier.isBroken());
  }
};

}  // namespace boxoffice::relacy
