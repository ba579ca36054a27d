// A timeout of zero or less never sleeps, for every primitive: the platform counts the calls that may
// block.
#include "support.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

std::atomic<int> sleeps{0};

class CountedSemaphore : public Semaphore {
 public:
  using Semaphore::Semaphore;

  void wait() noexcept { waitUntil(kNever); }
  bool waitUntil(Deadline deadline) noexcept {
    ++sleeps;
    return Semaphore::waitUntil(deadline);
  }
};

struct CountedPlatform : NativePlatform<CountedPlatform> {
  using Semaphore = CountedSemaphore;
};

class TimeoutTest : public testing::TestWithParam<std::chrono::nanoseconds> {
 protected:
  TimeoutTest() { sleeps = 0; }
  ~TimeoutTest() override {
    EXPECT_EQ(sleeps, 0);
    EXPECT_EQ(CountedPlatform::lot().queues(), 0U);
  }

  const std::chrono::nanoseconds timeout_ = GetParam();
  const Deadline deadline_ = deadlineIn(timeout_);
};

INSTANTIATE_TEST_SUITE_P(ZeroOrLess, TimeoutTest,
                         testing::Values(0ns, -1ns, -1h, std::chrono::nanoseconds::min()));

TEST_P(TimeoutTest, AMutexTimesOut) {
  BasicMutex<CountedPlatform> mutex;
  mutex.lock(kAnna);
  EXPECT_FALSE(mutex.lockFor(timeout_));
  mutex.unlock(kAnna);
}

TEST_P(TimeoutTest, ARecursiveMutexTimesOut) {
  BasicRecursiveMutex<CountedPlatform> mutex;
  mutex.lock(kAnna);
  EXPECT_FALSE(mutex.lockFor(timeout_));
  mutex.unlock(kAnna);
}

TEST_P(TimeoutTest, SemaphoresTimeOut) {
  EXPECT_FALSE(BasicLightweightSemaphore<CountedPlatform>().waitFor(timeout_));
  EXPECT_FALSE(BasicWeightedSemaphore<CountedPlatform>(1).acquireFor(timeout_, 2));
}

TEST_P(TimeoutTest, EventsAndLatchesTimeOut) {
  EXPECT_FALSE(BasicAutoResetEvent<CountedPlatform>().waitFor(timeout_));
  EXPECT_FALSE(BasicManualResetEvent<CountedPlatform>().waitFor(timeout_));
  EXPECT_FALSE(BasicCountdownLatch<CountedPlatform>(1).waitFor(timeout_));
}

TEST_P(TimeoutTest, AReadWriteLockTimesOut) {
  BasicRWLock<CountedPlatform> lock;
  lock.lockRead();
  lock.lockRead();
  EXPECT_FALSE(lock.lockWriteUntil(deadline_));
  EXPECT_FALSE(lock.upgradeUntil(deadline_));
  lock.unlockRead();
  lock.unlockRead();
  lock.lockWrite(kAnna);
  EXPECT_FALSE(lock.lockReadUntil(deadline_));
  lock.unlockWrite(kAnna);
}

TEST_P(TimeoutTest, AConditionVariableTimesOut) {
  BasicMutex<CountedPlatform> mutex;
  BasicConditionVariable<CountedPlatform> condition;
  mutex.lock();
  EXPECT_FALSE(condition.waitFor(mutex, timeout_).notified);
  mutex.unlock();
}

TEST_P(TimeoutTest, ABarrierTimesOut) {
  BasicBarrier<CountedPlatform> barrier(2);
  EXPECT_EQ(barrier.waitFor(timeout_), Passage::broken);
}

TEST_P(TimeoutTest, PhilosophersTimeOut) {
  BasicLockFreeDiningPhilosophers<CountedPlatform> packed(2);
  packed.begin(0);
  EXPECT_FALSE(packed.beginFor(1, timeout_));
  BasicGuardedDiningPhilosophers<CountedPlatform> guarded(2);
  guarded.begin(0);
  EXPECT_FALSE(guarded.beginFor(1, timeout_));
}

TEST_P(TimeoutTest, ALockSetTimesOut) {
  BasicMutex<CountedPlatform> mutex[2];
  mutex[1].lock(kAnna);
  BasicLockSet<CountedPlatform> set{&mutex[0], &mutex[1]};
  EXPECT_FALSE(set.lockFor(timeout_));
  mutex[1].unlock(kAnna);
}

}  // namespace
}  // namespace boxoffice::test
