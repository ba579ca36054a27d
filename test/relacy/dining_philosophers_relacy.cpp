#include "dining_philosophers_tests.h"

using namespace boxoffice;
using namespace boxoffice::relacy;

template <class P>
using Guarded = BasicGuardedDiningPhilosophers<P>;
template <class P>
using LockFree = BasicLockFreeDiningPhilosophers<P>;

int main() {
  using P = RelacyPlatform;
  Runner run;
  run.random<Dinner<P, Guarded, 2, 2>>("philosophers: 2", kRuns);
  run.random<Dinner<P, Guarded, 3, 3>>("philosophers: 3", kRuns);
  run.random<Dinner<P, Guarded, 4, 3>>("philosophers: 3 at a table for 4", kRuns);
  run.random<Dinner<P, Guarded, 3, 3, true>>("philosophers: timed", kRuns);
  run.random<Dinner<P, LockFree, 2, 2>>("lock-free philosophers: 2", kRuns);
  run.random<Dinner<P, LockFree, 3, 3>>("lock-free philosophers: 3", kRuns);
  run.random<Dinner<P, LockFree, 4, 4>>("lock-free philosophers: 4", kRuns);
  run.random<Dinner<P, LockFree, 4, 3>>("lock-free philosophers: 3 at a table for 4", kRuns);
  run.random<Dinner<P, LockFree, 3, 3, true>>("lock-free philosophers: timed", kRuns);
  return run.failures();
}
