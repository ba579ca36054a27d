// Tests of the mutex, apart from main: they also run with weakened memory orders.
#pragma once

#include "loop.h"
#include "suite.h"

namespace boxoffice::relacy {

template <class Test, class P, int kThreads>
struct MutexSuite : Suite<Test, P, kThreads> {
  BasicMutex<P> mutex;
  Payload payload;
  int entries = 0;  // plain: the mutex guards it, and relacy does not track it

  void work() {
    payload.add();
    ++entries;
  }

  void resumed() {
    RL_ASSERT((wordOf<P, MutexRules>(mutex) == 0));
    RL_ASSERT(payload.read() == entries);
  }
};

template <class P, int kThreads>
struct Exclusion : MutexSuite<Exclusion<P, kThreads>, P, kThreads> {
  void thread(unsigned) {
    for (int round = 0; round < 2; ++round) {
      this->mutex.lock();
      this->work();
      this->mutex.unlock();
    }
  }
};

/// A timed lock races the unlock; a further waiter must still be woken.
template <class P, int kThreads>
struct TimedLock : MutexSuite<TimedLock<P, kThreads>, P, kThreads> {
  void thread(unsigned index) {
    for (int round = 0; round < 2; ++round) {
      if (this->mutex.lockUntil(index == 0 ? P::kSoon : kNever)) {
        this->work();
        this->mutex.unlock();
      }
    }
  }
};

template <class P>
struct AllTimed : MutexSuite<AllTimed<P>, P, 3> {
  void thread(unsigned) {
    if (this->mutex.lockUntil(P::kSoon)) {
      this->work();
      this->mutex.unlock();
    }
  }
};

template <class P>
struct TryLock : MutexSuite<TryLock<P>, P, 3> {
  void thread(unsigned index) {
    for (int round = 0; round < 2; ++round) {
      if (index == 0 || this->mutex.tryLock()) {
        if (index == 0) this->mutex.lock();
        this->work();
        this->mutex.unlock();
      }
    }
  }
};

/// A holder dies; exactly one later holder is told.
template <class P>
struct Abandon : MutexSuite<Abandon<P>, P, 3> {
  int told = 0;

  void thread(unsigned index) {
    const Entry entry = this->mutex.lock();
    this->work();
    told += entry.abandoned;
    if (index == 0) {
      RL_ASSERT(this->mutex.abandon(P::agent()));
    } else {
      this->mutex.unlock();
    }
  }

  void resumed() {
    // When the abandoning thread was the last holder, the word still carries the report.
    const bool last = (wordOf<P, MutexRules>(this->mutex) & MutexRules::kAbandoned) != 0;
    RL_ASSERT(told == (last ? 0 : 1));
    RL_ASSERT(!this->mutex.isLocked());
    RL_ASSERT(this->payload.read() == 3);
  }
};

/// Threads and one event loop with two waiters, the second of which must not overtake the first.
template <class P, int kThreads, bool kStrict>
struct LoopAndThreads : MutexSuite<LoopAndThreads<P, kThreads, kStrict>, P, kThreads> {
  Loop<P> loop;

  void thread(unsigned index) {
    if (index > 0) {
      this->mutex.lock();
      this->work();
      this->mutex.unlock();
      return;
    }
    Waiter first(loop.mailbox, P::agent());
    Waiter second(loop.mailbox, P::agent());
    first.mayBeOvertaken = second.mayBeOvertaken = !kStrict;
    second.mayOvertake = false;
    Waiter* next = &first;
    int left = 2;
    const auto granted = [&](Waiter& w) {
      RL_ASSERT(&w == next);
      next = &second;
      --left;
      this->work();
      this->mutex.unlock(w.agent);
    };
    if (this->mutex.enter(first)) granted(first);
    if (this->mutex.enter(second)) granted(second);
    while (left > 0) {
      loop.turn([&](Waiter& w, Wake how) {
        if (this->mutex.resume(w, how)) granted(w);
      });
    }
  }
};

/// An event loop's waiter leaves the queue while it waits, is invited, or is already admitted.
template <class P>
struct LoopLeaves : MutexSuite<LoopLeaves<P>, P, 3> {
  Loop<P> loop;

  void thread(unsigned index) {
    if (index > 0) {
      this->mutex.lock();
      this->work();
      this->mutex.unlock();
      return;
    }
    Waiter w(loop.mailbox, P::agent());
    bool in = this->mutex.enter(w);
    if (!in) {
      const Leave how = this->mutex.leave(w);
      if (how != Leave::left) {
        loop.turn([&](Waiter& woken, Wake wake) {
          RL_ASSERT(&woken == &w);
          if (how == Leave::admitted) in = this->mutex.resume(woken, wake);
        });
      }
      RL_ASSERT(in == (how == Leave::admitted));
    }
    if (in) {
      this->work();
      this->mutex.unlock(w.agent);
    }
  }
};

/// A parker whose wake() resumes the waiter on the waker's thread: it re-enters the parking lot.
template <class P>
struct ResumedInWake : MutexSuite<ResumedInWake<P>, P, 3>, Parker {
  static constexpr AgentId kAgent = 100;
  Waiter waiter{*this, kAgent};
  int done = 0;

  void granted(Waiter& w) {
    this->work();
    ++done;
    this->mutex.unlock(w.agent);
  }

  void wake(Waiter& w, Wake how) noexcept override {
    if (this->mutex.resume(w, how)) granted(w);
  }

  void thread(unsigned index) {
    if (index == 0) {
      if (this->mutex.enter(waiter)) granted(waiter);
      return;
    }
    this->mutex.lock();
    this->work();
    this->mutex.unlock();
  }

  void resumed() {
    RL_ASSERT(done == 1);
    MutexSuite<ResumedInWake<P>, P, 3>::resumed();
  }
};

}  // namespace boxoffice::relacy
