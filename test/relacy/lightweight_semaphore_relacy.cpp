#include "lightweight_semaphore_tests.h"

using namespace boxoffice::relacy;

int main() {
  using P = RelacyPlatform;
  using S = SpinningPlatform;
  Runner run;
  run.random<Signalled<P>>("semaphore: signals", kRuns);
  run.random<Signalled<S>>("semaphore: signals, spinning", kRuns);
  run.random<SemaphoreAsLock<P, 2>>("semaphore: a lock, 2 threads", kRuns);
  run.random<SemaphoreAsLock<P, 3>>("semaphore: a lock, 3 threads", kRuns);
  run.random<SemaphoreAsLock<S, 3>>("semaphore: a lock, 3 threads, spinning", kRuns);
  run.random<TimedWaits<P, 1>>("semaphore: a timed wait", kRuns);
  run.random<TimedWaits<P, 2>>("semaphore: timed waits", kRuns);
  run.random<TimedWaits<S, 2>>("semaphore: timed waits, spinning", kRuns);
  run.random<TimedAndUntimed<P>>("semaphore: timed and untimed waits", kRuns);
  run.bounded<Signalled<P>>("semaphore: all runs with 3 switches", 3);
  run.bounded<TimedWaits<P, 1>>("semaphore: all timed runs with 3 switches", 3);
  return run.failures();
}
