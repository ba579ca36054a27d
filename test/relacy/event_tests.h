// Tests of both events, apart from main: they also run with weakened memory orders.
#pragma once

#include "suite.h"

namespace boxoffice::relacy {

template <class Test, class P, int kThreads>
struct AutoResetSuite : Suite<Test, P, kThreads> {
  BasicAutoResetEvent<P> event;
  Payload payload;

  void resumed() { RL_ASSERT((wordOf<P, AutoResetEventRules>(event) == 0)); }
};

/// A wait sees every write made before its signal, twice in each direction.
template <class P>
struct PingPong : AutoResetSuite<PingPong<P>, P, 2> {
  BasicAutoResetEvent<P> reply;

  void thread(unsigned index) {
    for (int round = 0; round < 2; ++round) {
      if (index == 0) {
        this->payload.add();
        this->event.signal();
        reply.wait();
        RL_ASSERT(this->payload.read() == 2 * round + 2);
      } else {
        this->event.wait();
        this->payload.add();
        reply.signal();
      }
    }
  }
};

/// Each admitted thread signals for the next one: a lost wake-up is a deadlock.
template <class P, bool kTimed>
struct Relay : AutoResetSuite<Relay<P, kTimed>, P, 3> {
  int entries = 0;

  void thread(unsigned index) {
    if (index == 0) this->event.signal();
    if (this->event.waitUntil(kTimed && index == 1 ? P::kSoon : kNever)) {
      this->payload.add();
      ++entries;
      this->event.signal();
    }
  }

  void resumed() {
    RL_ASSERT(this->payload.read() == entries);
    RL_ASSERT(this->event.tryWait());
    AutoResetSuite<Relay, P, 3>::resumed();
  }
};

/// A wait that takes two signals at once sees the writes before both. The values are relaxed
/// atomics, since the waiter cannot know how many signals it took.
template <class Test, class Event, class P>
struct TwoSignals : Suite<Test, P, 3> {
  Event event;
  typename P::template Atomic<int> done[2];
  bool seen[2] = {};

  void thread(unsigned index) {
    if (index < 2) {
      done[index].store(1, std::memory_order_relaxed);
      event.signal();
      return;
    }
    event.wait();
    for (int i = 0; i < 2; ++i) seen[i] = done[i].load(std::memory_order_relaxed) == 1;
  }

  void resumed() {
    if (!event.isSet()) RL_ASSERT(seen[0] && seen[1]);
  }
};

template <class P>
struct SignalOnSignal : TwoSignals<SignalOnSignal<P>, BasicAutoResetEvent<P>, P> {};

/// A set lets every waiter through, queued or later, until the reset.
template <class P, bool kTimed>
struct SetForAll : Suite<SetForAll<P, kTimed>, P, 3> {
  BasicManualResetEvent<P> event;
  Payload payload;

  void thread(unsigned index) {
    if (index == 0) {
      payload.write(1);
      event.set();
    } else if (event.waitUntil(kTimed && index == 1 ? P::kSoon : kNever)) {
      RL_ASSERT(payload.read() == 1);
      if (event.tryWait()) RL_ASSERT(payload.read() == 1);
    }
  }

  void resumed() {
    RL_ASSERT((wordOf<P, ManualResetEventRules>(event) == ManualResetEventRules::kSet));
  }
};

/// Sets and resets race waits; the last set lets the last waiter through.
template <class P>
struct SetAndReset : Suite<SetAndReset<P>, P, 3> {
  BasicManualResetEvent<P> event;
  Payload payload;

  void thread(unsigned index) {
    if (index == 0) {
      payload.write(1);
      event.set();
      event.reset();
      event.set();
    } else {
      event.wait();
      RL_ASSERT(payload.read() == 1);
    }
  }

  void resumed() {
    RL_ASSERT((wordOf<P, ManualResetEventRules>(event) == ManualResetEventRules::kSet));
    event.reset();
    RL_ASSERT((wordOf<P, ManualResetEventRules>(event) == 0));
  }
};

}  // namespace boxoffice::relacy
