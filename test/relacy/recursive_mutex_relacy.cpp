#include "suite.h"

namespace boxoffice::relacy {

template <class P, bool kTimed>
struct Nested : Suite<Nested<P, kTimed>, P, 3> {
  BasicRecursiveMutex<P> mutex;
  Payload payload;
  int entries = 0;

  void thread(unsigned index) {
    if (!mutex.lockUntil(kTimed && index == 0 ? P::kSoon : kNever)) return;
    payload.add();
    RL_ASSERT(mutex.tryLock());
    RL_ASSERT(mutex.depth() == 2);
    mutex.lock();
    payload.add();
    mutex.unlock();
    mutex.unlock();
    RL_ASSERT(mutex.owner() == P::agent());
    payload.add();
    entries += 3;
    mutex.unlock();
    RL_ASSERT(mutex.owner() != P::agent());
  }

  void resumed() {
    RL_ASSERT(mutex.owner() == kNoAgent);
    RL_ASSERT(mutex.depth() == 0);
    RL_ASSERT(payload.read() == entries);
  }
};

}  // namespace boxoffice::relacy

using namespace boxoffice::relacy;

int main() {
  Runner run;
  run.random<Nested<RelacyPlatform, false>>("recursive mutex", kRuns);
  run.random<Nested<SpinningPlatform, false>>("recursive mutex, spinning", kRuns);
  run.random<Nested<RelacyPlatform, true>>("recursive mutex: timed", kRuns);
  return run.failures();
}
