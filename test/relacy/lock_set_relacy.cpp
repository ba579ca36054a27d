#include "loop.h"
#include "suite.h"

namespace boxoffice::relacy {

/// Two mutexes, listed in either order; or three in a ring, each thread locking two neighbours.
template <class P, int kMutexes, int kThreads, bool kTimed>
struct Crossing : Suite<Crossing<P, kMutexes, kThreads, kTimed>, P, kThreads> {
  BasicMutex<P> mutex[kMutexes];
  Payload payload[kMutexes];
  int entries = 0;

  void thread(unsigned index) {
    const unsigned a = index % kMutexes;
    const unsigned b = (index + 1) % kMutexes;
    BasicLockSet<P> both{&mutex[a], &mutex[b], &mutex[a]};
    for (int round = 0; round < 2; ++round) {
      if (!both.lockUntil(kTimed && index == 0 ? P::kSoon : kNever)) continue;
      payload[a].add();
      payload[b].add();
      entries += 2;
      both.unlock();
    }
    if (!both.tryLock()) return;
    payload[a].add();
    payload[b].add();
    entries += 2;
    both.unlock();
  }

  void resumed() {
    int uses = 0;
    for (int i = 0; i < kMutexes; ++i) {
      RL_ASSERT((wordOf<P, MutexRules>(mutex[i]) == 0));
      uses += payload[i].read();
    }
    RL_ASSERT(uses == entries);
  }
};

/// An event loop locks both mutexes, or gives up while it waits, while threads contend for them.
template <class P, bool kLeaves>
struct LoopCrosses : Suite<LoopCrosses<P, kLeaves>, P, 3> {
  BasicMutex<P> first;
  BasicMutex<P> second;
  Payload payload;
  int entries = 0;
  Loop<P> loop;

  void work() {
    payload.add();
    ++entries;
  }

  void thread(unsigned index) {
    BasicLockSet<P> both{&second, &first};
    if (index > 0) {
      both.lock();
      work();
      both.unlock();
      return;
    }
    Waiter w(loop.mailbox, P::agent());
    bool in = both.enter(w);
    if (!in && kLeaves) {
      const Leave how = both.leave(w);
      if (how == Leave::left) return;
      loop.turn([&](Waiter& woken, Wake wake) {
        if (how == Leave::admitted) both.resume(woken, wake);
      });
      if (how == Leave::admitted) both.unlock();
      return;
    }
    while (!in) loop.turn([&](Waiter& woken, Wake wake) { in = both.resume(woken, wake); });
    work();
    both.unlock();
  }

  void resumed() {
    RL_ASSERT((wordOf<P, MutexRules>(first) == 0));
    RL_ASSERT((wordOf<P, MutexRules>(second) == 0));
    RL_ASSERT(payload.read() == entries);
  }
};

}  // namespace boxoffice::relacy

using namespace boxoffice::relacy;

int main() {
  using P = RelacyPlatform;
  using S = SpinningPlatform;
  Runner run;
  run.random<Crossing<P, 2, 2, false>>("lock set: 2 threads", kRuns);
  run.random<Crossing<S, 2, 2, false>>("lock set: 2 threads, spinning", kRuns);
  run.random<Crossing<P, 3, 3, false>>("lock set: 3 threads in a ring", kRuns);
  run.random<Crossing<P, 3, 3, true>>("lock set: timed", kRuns);
  run.random<LoopCrosses<P, false>>("lock set: a loop", kRuns);
  run.random<LoopCrosses<P, true>>("lock set: a loop leaves", kRuns);
  return run.failures();
}
