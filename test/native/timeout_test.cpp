// A timeout of zero or less never sleeps, for every primitive, and a long one lasts: the platform counts the calls
// that may block.
#include <limits>

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

using Seconds = std::chrono::duration<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

static_assert(Timeout(50ms).length() == 50ms);
static_assert(Timeout(Seconds(0.25)).length() == 250ms);
static_assert(Timeout(std::chrono::duration<int, std::ratio<1, 3>>(6)).length() == 2s);
static_assert(Timeout(std::chrono::duration<long long, std::pico>(2500)).length() == 2ns);
static_assert(Timeout(24h * 365 * 100).length() == 24h * 365 * 100);
static_assert(Timeout(24h * 365 * 300).length() == std::chrono::nanoseconds::max());
static_assert(Timeout(std::chrono::years::max()).length() == std::chrono::nanoseconds::max());
static_assert(Timeout(Seconds::max()).length() == std::chrono::nanoseconds::max());
static_assert(Timeout(std::chrono::hours::min()).length() == 0ns);
static_assert(Timeout(Seconds(kNaN)).length() == 0ns);

class TimeoutTest : public testing::TestWithParam<Timeout> {
 protected:
  TimeoutTest() { sleeps = 0; }
  ~TimeoutTest() override {
    EXPECT_EQ(sleeps, 0);
    EXPECT_EQ(CountedPlatform::lot().queues(), 0U);
  }

  const Timeout timeout_ = GetParam();
  const Deadline deadline_ = deadlineIn(timeout_);
};

INSTANTIATE_TEST_SUITE_P(ZeroOrLess, TimeoutTest,
                         testing::Values(Timeout(0ns), Timeout(-1ns), Timeout(-1h),
                                         Timeout(std::chrono::nanoseconds::min()),
                                         Timeout(std::chrono::hours::min()),
                                         Timeout(Seconds(-kInfinity)), Timeout(Seconds(kNaN))));

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

class LongTimeoutTest : public testing::TestWithParam<Timeout> {
 protected:
  /// `wait` must last until `end` was called.
  template <class Wait, class End>
  static void lasts(Wait&& wait, End&& end) {
    const int before = sleeps;
    std::atomic<bool> isOver{false};
    std::thread thread([&] {
      EXPECT_TRUE(wait());
      isOver = true;
    });
    await([&] { return sleeps > before || isOver; });
    EXPECT_FALSE(isOver);
    end();
    thread.join();
  }

  const Timeout timeout_ = GetParam();
};

INSTANTIATE_TEST_SUITE_P(OfAnyType, LongTimeoutTest,
                         testing::Values(Timeout(std::chrono::nanoseconds::max()),
                                         Timeout(std::chrono::seconds::max()),
                                         Timeout(std::chrono::hours::max()),
                                         Timeout(24h * 365 * 300), Timeout(Seconds(1e300)),
                                         Timeout(Seconds(kInfinity))));

TEST_P(LongTimeoutTest, AMutexWaitsUntilItIsUnlocked) {
  BasicMutex<CountedPlatform> mutex;
  mutex.lock(kAnna);
  lasts([&] { return mutex.lockFor(timeout_, kBen); }, [&] { mutex.unlock(kAnna); });
}

TEST_P(LongTimeoutTest, ARecursiveMutexWaitsUntilItIsUnlocked) {
  BasicRecursiveMutex<CountedPlatform> mutex;
  mutex.lock(kAnna);
  lasts([&] { return mutex.lockFor(timeout_, kBen); }, [&] { mutex.unlock(kAnna); });
}

TEST_P(LongTimeoutTest, ALockSetWaitsUntilTheLastMutexIsUnlocked) {
  BasicMutex<CountedPlatform> mutex[2];
  mutex[1].lock(kAnna);
  BasicLockSet<CountedPlatform> set{&mutex[0], &mutex[1]};
  lasts([&] { return set.lockFor(timeout_, kBen); }, [&] { mutex[1].unlock(kAnna); });
}

TEST_P(LongTimeoutTest, SemaphoresWaitUntilTheyAreSignalled) {
  BasicLightweightSemaphore<CountedPlatform> light;
  lasts([&] { return light.waitFor(timeout_); }, [&] { light.signal(); });
  BasicWeightedSemaphore<CountedPlatform> weighted(1);
  lasts([&] { return weighted.acquireFor(timeout_, 2); }, [&] { weighted.release(); });
}

TEST_P(LongTimeoutTest, EventsAndLatchesWaitUntilTheyAreSet) {
  BasicManualResetEvent<CountedPlatform> event;
  lasts([&] { return event.waitFor(timeout_); }, [&] { event.set(); });
  BasicCountdownLatch<CountedPlatform> latch(1);
  lasts([&] { return latch.waitFor(timeout_); }, [&] { latch.countDown(); });
}

TEST_P(LongTimeoutTest, AConditionVariableWaitsUntilItIsNotified) {
  BasicMutex<CountedPlatform> mutex;
  BasicConditionVariable<CountedPlatform> condition;
  const auto wait = [&] {
    mutex.lock();
    const bool isNotified = condition.waitFor(mutex, timeout_).notified;
    mutex.unlock();
    return isNotified;
  };
  lasts(wait, [&] { condition.notifyOne(); });
}

TEST_P(LongTimeoutTest, ABarrierWaitsForTheOtherParty) {
  BasicBarrier<CountedPlatform> barrier(2);
  lasts([&] { return barrier.waitFor(timeout_) == Passage::passed; }, [&] { barrier.wait(); });
}

TEST_P(LongTimeoutTest, APhilosopherWaitsForItsNeighbour) {
  BasicLockFreeDiningPhilosophers<CountedPlatform> table(2);
  table.begin(0);
  lasts([&] { return table.beginFor(1, timeout_); }, [&] { table.end(0); });
}

}  // namespace
}  // namespace boxoffice::test
