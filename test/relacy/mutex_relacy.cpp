#include "mutex_tests.h"

using namespace boxoffice::relacy;

int main() {
  using P = RelacyPlatform;
  using S = SpinningPlatform;
  Runner run;
  run.random<Exclusion<P, 2>>("mutex: 2 threads", kRuns);
  run.random<Exclusion<P, 3>>("mutex: 3 threads", kRuns);
  run.random<Exclusion<S, 3>>("mutex: 3 threads, spinning", kRuns);
  run.random<TimedLock<P, 3>>("mutex: a timed lock", kRuns);
  run.random<TimedLock<S, 3>>("mutex: a timed lock, spinning", kRuns);
  run.random<AllTimed<P>>("mutex: three timed locks", kRuns);
  run.random<TryLock<P>>("mutex: tryLock", kRuns);
  run.random<Abandon<P>>("mutex: abandoned", kRuns);
  run.random<LoopAndThreads<P, 3, false>>("mutex: a loop and 2 threads", kRuns);
  run.random<LoopAndThreads<P, 3, true>>("mutex: a loop that is not overtaken", kRuns);
  run.random<LoopLeaves<P>>("mutex: a loop leaves", kRuns);
  run.random<ResumedInWake<P>>("mutex: resumed within the wake", kRuns);
  run.bounded<Exclusion<P, 2>>("mutex: all runs with 2 switches", 2);
  run.bounded<TimedLock<P, 2>>("mutex: all timed runs with 1 switch", 1);
  run.bounded<AllTimed<P>>("mutex: all runs with 1 switch, 3 threads", 1);
  return run.failures();
}
