#include "event_tests.h"

using namespace boxoffice::relacy;

int main() {
  using P = RelacyPlatform;
  using S = SpinningPlatform;
  Runner run;
  run.random<PingPong<P>>("auto-reset event: to and fro", kRuns);
  run.random<PingPong<S>>("auto-reset event: to and fro, spinning", kRuns);
  run.random<Relay<P, false>>("auto-reset event: a relay", kRuns);
  run.random<Relay<S, false>>("auto-reset event: a relay, spinning", kRuns);
  run.random<Relay<P, true>>("auto-reset event: a timed wait", kRuns);
  run.random<SignalOnSignal<P>>("auto-reset event: a signal on a signal", kRuns);
  run.random<SetForAll<P, false>>("manual-reset event: set", kRuns);
  run.random<SetForAll<S, false>>("manual-reset event: set, spinning", kRuns);
  run.random<SetForAll<P, true>>("manual-reset event: a timed wait", kRuns);
  run.random<SetAndReset<P>>("manual-reset event: set and reset", kRuns);
  run.bounded<SignalOnSignal<P>>("auto-reset event: all runs with 2 switches", 2);
  run.bounded<SetForAll<P, false>>("manual-reset event: all runs with 1 switch", 1);
  return run.failures();
}
