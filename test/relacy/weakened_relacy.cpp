// Shows that the tests check memory orders: each runs here on our own code without its acquires or
// without its releases, and must fail. Barrier and condition variable are missing, since all their
// steps run under the parking lot's lock, which orders them.
#include "dining_philosophers_tests.h"
#include "event_tests.h"
#include "latch_and_barrier_tests.h"
#include "lightweight_semaphore_tests.h"
#include "mutex_tests.h"
#include "rw_lock_tests.h"
#include "weighted_semaphore_tests.h"

using namespace boxoffice;
using namespace boxoffice::relacy;

template <class P>
void findIn(Runner& run) {
  run.finds<Exclusion<P, 2>>("mutex", kRuns);
  run.finds<TryLock<P>>("mutex: tryLock", kRuns);
  run.finds<Signalled<P>>("semaphore", kRuns);
  run.finds<SemaphoreAsLock<P, 2>>("semaphore: a lock", kRuns);
  run.finds<Weights<P, 3, false>>("weighted semaphore", kRuns);
  run.finds<PingPong<P>>("auto-reset event", kRuns);
  run.finds<SignalOnSignal<P>>("auto-reset event: a signal on a signal", kRuns);
  run.finds<SetForAll<P, false>>("manual-reset event", kRuns);
  run.finds<ReadersAndWriters<P, 2, 1>>("rw lock", kRuns);
  run.finds<UpgradingReaders<P, false>>("rw lock: upgrade", kRuns);
  run.finds<Countdown<P, false>>("latch", kRuns);
  run.finds<Dinner<P, BasicLockFreeDiningPhilosophers, 3, 3>>("lock-free philosophers", kRuns);
}

int main() {
  Runner run;
  std::cout << "without acquire\n";
  findIn<WeakenedPlatform<NoAcquire>>(run);
  std::cout << "without release\n";
  findIn<WeakenedPlatform<NoRelease>>(run);
  return run.failures();
}
