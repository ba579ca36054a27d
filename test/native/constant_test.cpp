// Locks are constant-initialised: a static initialiser of any file may use a lock that is global in another file.
#include "support.h"

namespace boxoffice::test {
namespace {

extern Mutex constantMutex;
extern WeightedSemaphore constantSemaphore;

/// Initialised before the locks below, if anything had to run to initialise them.
const struct EarlyUser {
  EarlyUser() {
    constantMutex.lock(kAnna);
    isGranted = constantSemaphore.tryAcquire(2).granted;
  }

  bool isGranted = false;
} kEarlyUser;

constinit Mutex constantMutex;
constinit RecursiveMutex constantRecursiveMutex;
constinit RWLock constantRWLock;
constinit WeightedSemaphore constantSemaphore(3);
constinit AutoResetEvent constantAutoResetEvent(true);
constinit ManualResetEvent constantManualResetEvent(true);
constinit CountdownLatch constantLatch(2);
constinit Barrier constantBarrier(1);
constinit BarrierWord constantBarrierWord(1);
constinit ConditionVariable constantCondition;
#ifdef __linux__
constinit LightweightSemaphore constantLightweightSemaphore(1);
#endif

TEST(ConstantTest, LocksAreUsableBeforeAnyStaticInitialiserRuns) {
  EXPECT_EQ(constantMutex.owner(), kAnna);
  constantMutex.unlock(kAnna);
  EXPECT_TRUE(kEarlyUser.isGranted);
  EXPECT_EQ(constantSemaphore.value(), 1);
  constantSemaphore.release(2);
}

TEST(ConstantTest, LocksStartAsTheirConstructorsSay) {
  EXPECT_EQ(constantRecursiveMutex.depth(), 0U);
  EXPECT_TRUE(constantRWLock.tryLockWrite());
  constantRWLock.unlockWrite();
  EXPECT_TRUE(constantAutoResetEvent.isSet());
  EXPECT_TRUE(constantManualResetEvent.isSet());
  EXPECT_EQ(constantLatch.count(), 2U);
  EXPECT_EQ(constantBarrier.wait(), Passage::last);
  EXPECT_FALSE(constantBarrierWord.isBroken());
  EXPECT_FALSE(constantCondition.isQueued(kAnna));
#ifdef __linux__
  EXPECT_TRUE(constantLightweightSemaphore.tryWait());
#endif
}

}  // namespace
}  // namespace boxoffice::test
