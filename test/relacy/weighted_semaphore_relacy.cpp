#include "weighted_semaphore_tests.h"

using namespace boxoffice::relacy;

int main() {
  using P = RelacyPlatform;
  using S = SpinningPlatform;
  Runner run;
  run.random<Weights<P, 3, false>>("weighted semaphore: 3 threads", kRuns);
  run.random<Weights<S, 3, false>>("weighted semaphore: 3 threads, spinning", kRuns);
  run.random<Weights<P, 4, false>>("weighted semaphore: 4 threads", kRuns);
  run.random<Weights<P, 4, true>>("weighted semaphore: timed", kRuns);
  run.random<Priorities<P>>("weighted semaphore: priorities", kRuns);
  run.random<Permits<P>>("weighted semaphore: permits", kRuns);
  run.random<ValueSet<P>>("weighted semaphore: setValue", kRuns);
  return run.failures();
}
