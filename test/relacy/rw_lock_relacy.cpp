#include "rw_lock_tests.h"

using namespace boxoffice::relacy;

int main() {
  using P = RelacyPlatform;
  using S = SpinningPlatform;
  Runner run;
  run.random<ReadersAndWriters<P, 2, 1>>("rw lock: 2 readers, 1 writer", kRuns);
  run.random<ReadersAndWriters<S, 2, 1>>("rw lock: 2 readers, 1 writer, spinning", kRuns);
  run.random<ReadersAndWriters<P, 1, 2>>("rw lock: 1 reader, 2 writers", kRuns);
  run.random<ReadersAndWriters<P, 2, 2>>("rw lock: 2 readers, 2 writers", kRuns);
  run.random<ReadersAndWriters<P, 3, 1>>("rw lock: 3 readers, 1 writer", kRuns);
  run.random<ReadersAndWriters<P, 2, 2, true>>("rw lock: timed", kRuns);
  run.random<ReadersAndWriters<S, 2, 2, true>>("rw lock: timed, spinning", kRuns);
  run.random<UpgradingReaders<P, false>>("rw lock: upgrade", kRuns);
  run.random<UpgradingReaders<P, true>>("rw lock: upgrade, timed", kRuns);
  run.random<Downgrade<P>>("rw lock: downgrade", kRuns);
  run.random<TryReadAndWrite<P>>("rw lock: try", kRuns);
  run.random<AbandonedWrite<P>>("rw lock: abandoned", kRuns);
  return run.failures();
}
