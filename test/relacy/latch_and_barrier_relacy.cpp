#include "latch_and_barrier_tests.h"

using namespace boxoffice::relacy;

int main() {
  using P = RelacyPlatform;
  using S = SpinningPlatform;
  Runner run;
  run.random<Countdown<P, false>>("latch", kRuns);
  run.random<Countdown<S, false>>("latch, spinning", kRuns);
  run.random<Countdown<P, true>>("latch: timed", kRuns);
  run.random<Rounds<P, 2>>("barrier: 2 threads, 2 rounds", kRuns);
  run.random<Rounds<P, 3>>("barrier: 3 threads, 2 rounds", kRuns);
  run.random<Rounds<S, 3>>("barrier: 3 threads, 2 rounds, spinning", kRuns);
  run.random<GivingUp<P>>("barrier: giving up", kRuns);
  run.bounded<Rounds<P, 2>>("barrier: all runs with 3 switches", 3);
  return run.failures();
}
