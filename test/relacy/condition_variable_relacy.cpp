#include "loop.h"
#include "suite.h"

namespace boxoffice::relacy {

template <class Test, class P, int kThreads>
struct ConditionSuite : Suite<Test, P, kThreads> {
  BasicMutex<P> mutex;
  BasicConditionVariable<P> condition;
  Payload items;

  void put() {
    mutex.lock();
    items.add();
    mutex.unlock();
  }
  void take() { items.write(items.read() - 1); }

  void resumed() { RL_ASSERT((wordOf<P, MutexRules>(mutex) == 0)); }
};

/// One notify per item, after the unlock or before it: no consumer sleeps while an item is left.
template <class P, bool kInside>
struct Consumers : ConditionSuite<Consumers<P, kInside>, P, 3> {
  void thread(unsigned index) {
    if (index > 0) {
      this->mutex.lock();
      while (this->items.read() == 0) this->condition.wait(this->mutex);
      this->take();
      this->mutex.unlock();
      return;
    }
    for (int i = 0; i < 2; ++i) {
      if (kInside) this->mutex.lock();
      if (kInside) this->items.add();
      if (!kInside) this->put();
      this->condition.notifyOne();
      if (kInside) this->mutex.unlock();
    }
  }

  void resumed() {
    RL_ASSERT(this->items.read() == 0);
    ConditionSuite<Consumers, P, 3>::resumed();
  }
};

template <class P>
struct NotifyAll : ConditionSuite<NotifyAll<P>, P, 4> {
  void thread(unsigned index) {
    if (index > 0) {
      this->mutex.lock();
      while (this->items.read() == 0) this->condition.wait(this->mutex);
      this->mutex.unlock();
      return;
    }
    this->put();
    this->condition.notifyAll();
  }
};

/// A deadline races a notify. A timed-out waiter never consumes a notify that another waiter needs.
template <class P>
struct TimedConsumers : ConditionSuite<TimedConsumers<P>, P, 3> {
  void thread(unsigned index) {
    if (index == 0) {
      this->put();
      this->condition.notifyOne();
      return;
    }
    const Deadline deadline = index == 1 ? P::kSoon : kNever;
    this->mutex.lock();
    while (this->items.read() == 0) {
      const auto outcome = this->condition.waitUntil(this->mutex, deadline);
      RL_ASSERT(outcome.entry);
      RL_ASSERT(this->mutex.owner() == P::agent());
      if (!outcome.notified) break;
    }
    // Both threads wait for the same item: the thread that sees it notifies the other.
    const bool seen = this->items.read() == 1;
    this->mutex.unlock();
    if (seen) this->condition.notifyOne();
  }
};

/// An event loop waits together with a thread.
template <class P, bool kLeaves>
struct LoopConsumes : ConditionSuite<LoopConsumes<P, kLeaves>, P, 3> {
  Loop<P> loop;

  void thread(unsigned index) {
    if (index == 2) {
      this->put();
      this->condition.notifyAll();
      return;
    }
    this->mutex.lock();
    if (index == 1) {
      while (this->items.read() == 0) this->condition.wait(this->mutex);
      this->mutex.unlock();
      return;
    }
    if (this->items.read() > 0) {
      this->mutex.unlock();
      return;
    }
    Waiter w(loop.mailbox, P::agent());
    this->condition.enter(w, this->mutex);
    if (kLeaves && this->condition.leave(w)) return;
    for (bool in = false; !in;) {
      loop.turn([&](Waiter& woken, Wake how) { in = this->mutex.resume(woken, how); });
    }
    RL_ASSERT(this->items.read() == 1);
    this->mutex.unlock();
  }
};

}  // namespace boxoffice::relacy

using namespace boxoffice::relacy;

int main() {
  using P = RelacyPlatform;
  using S = SpinningPlatform;
  Runner run;
  run.random<Consumers<P, false>>("condition: notify after the unlock", kRuns);
  run.random<Consumers<S, false>>("condition: notify after the unlock, spinning", kRuns);
  run.random<Consumers<P, true>>("condition: notify before the unlock", kRuns);
  run.random<NotifyAll<P>>("condition: notifyAll", kRuns);
  run.random<TimedConsumers<P>>("condition: timed", kRuns);
  run.random<TimedConsumers<S>>("condition: timed, spinning", kRuns);
  run.random<LoopConsumes<P, false>>("condition: a loop waits", kRuns);
  run.random<LoopConsumes<P, true>>("condition: a loop leaves", kRuns);
  return run.failures();
}
