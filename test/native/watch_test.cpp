// Stopping blocked threads without a wake: ThreadParker::Watch.
#include "watched.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

TEST(WatchTest, CallsBackTheWaitersOfAMutex) {
  BasicMutex<NoSpinPlatform> mutex;
  mutex.lock(kAnna);
  expectBack(&mutex, [&] { return mutex.lock().granted; });
  expectBack(&mutex, [&] { return mutex.lockFor(1h).granted; });
  mutex.unlock(kAnna);
  EXPECT_EQ(wordOf(mutex).load(), 0U);
}

TEST(WatchTest, CallsBackTheWaitersOfARecursiveMutex) {
  BasicRecursiveMutex<NoSpinPlatform> mutex;
  mutex.lock(kAnna);
  expectBack(&mutex, [&] { return mutex.lock().granted; });
  mutex.unlock(kAnna);
}

TEST(WatchTest, CallsBackTheWaitersOfASemaphore) {
  BasicWeightedSemaphore<NoSpinPlatform> semaphore(1);
  expectBack(&semaphore, [&] { return semaphore.acquire(2).granted; });
  EXPECT_EQ(semaphore.value(), 1);
  EXPECT_TRUE(semaphore.tryAcquire());
}

TEST(WatchTest, CallsBackTheWaitersOfEvents) {
  BasicAutoResetEvent<NoSpinPlatform> one;
  expectBack(&one, [&] { return one.wait(); });
  one.signal();
  EXPECT_TRUE(one.tryWait()) << "it took no signal with it";
  BasicManualResetEvent<NoSpinPlatform> all;
  expectBack(&all, [&] { return all.wait(); });
}

TEST(WatchTest, CallsBackTheWaitersOfAReadWriteLock) {
  BasicRWLock<NoSpinPlatform> lock;
  lock.lockWrite(kAnna);
  expectBack(&lock, [&] { return lock.lockRead().granted; });
  expectBack(&lock, [&] { return lock.lockWrite().granted; });
  lock.downgrade(kAnna);
  lock.lockRead();
  expectBack(&lock, [&] { return lock.upgrade().granted; });
  EXPECT_TRUE(lock.tryLockRead()) << "readers come in again";
  for (int i = 0; i < 3; ++i) lock.unlockRead();
}

TEST(WatchTest, CallsBackAHungryPhilosopher) {
  BasicLockFreeDiningPhilosophers<NoSpinPlatform> table(3);
  EXPECT_TRUE(table.begin(0));
  Asked asked;
  asked.request();
  const Watch watch(asked);
  EXPECT_FALSE(table.begin(1));
  EXPECT_FALSE(table.isEating(1));
  table.end(0);
  EXPECT_TRUE(table.begin(2)) << "its neighbour thinks again";
}

TEST(WatchTest, CallsBackTheWaitersOfALockSet) {
  BasicMutex<NoSpinPlatform> mutex[2];
  mutex[1].lock(kAnna);
  BasicLockSet<NoSpinPlatform> set{&mutex[0], &mutex[1]};
  expectBack(&mutex[1], [&] { return set.lock().granted; });
  EXPECT_FALSE(mutex[0].isLocked());
  mutex[1].unlock(kAnna);
}

/// The clock advances only in sleep, exactly to the deadline.
struct SleepyPlatform : NativePlatform<SleepyPlatform> {
  static inline Deadline time{std::chrono::hours(1)};

  class Semaphore : public boxoffice::Semaphore {
   public:
    using boxoffice::Semaphore::Semaphore;
    bool waitUntil(Deadline deadline) noexcept {
      time = std::max(time, deadline);
      return boxoffice::Semaphore::waitUntil(Deadline::min());
    }
  };
  static constexpr int kBusyLooks = 0;
  static constexpr int kYieldLooks = 0;
  static Deadline now() noexcept { return time; }
};

TEST(WatchTest, ADeadlineIsHonouredToTheMoment) {
  using Sleepy = SleepyPlatform;
  BasicMutex<Sleepy> mutex;
  mutex.lock(kAnna);
  Asked asked;
  const ThreadParker<Sleepy>::Watch watch(asked);
  constexpr auto kLook = ThreadParker<Sleepy>::kLookEvery;
  for (const auto& [timeout, looks] : {std::pair<std::chrono::nanoseconds, int>{0ns, 0},
                                       {1ms, 0},
                                       {kLook - 1ms, 0},
                                       {kLook + 5ms, 1},
                                       {3 * kLook - 1ms, 2}}) {
    const int before = asked.looks();
    const Deadline start = Sleepy::time;
    EXPECT_FALSE(mutex.lockUntil(start + timeout));
    EXPECT_EQ(Sleepy::time - start, timeout);
    EXPECT_EQ(asked.looks() - before, looks);
  }
  asked.request();
  const Deadline start = Sleepy::time;
  EXPECT_FALSE(mutex.lockUntil(start + kLook / 2)) << "no look is due before the deadline";
  EXPECT_EQ(Sleepy::time - start, kLook / 2);
  EXPECT_EQ(asked.late(), 0);
  mutex.unlock(kAnna);
}

TEST(WatchTest, AThreadAdmittedAtOnceDoesNotLook) {
  BasicMutex<NoSpinPlatform> mutex;
  Asked asked;
  asked.request();
  const Watch watch(asked);
  EXPECT_TRUE(mutex.lock());
  EXPECT_EQ(asked.late(), 0);
  mutex.unlock();
}

TEST(WatchTest, WithoutAWatchNoThreadLooks) {
  BasicMutex<NoSpinPlatform> mutex;
  mutex.lock(kAnna);
  Asked asked;
  asked.request();
  {
    const Watch watch(asked);
    EXPECT_FALSE(mutex.lock());
  }
  EXPECT_EQ(asked.late(), 1);
  EXPECT_FALSE(mutex.lockFor(3 * ThreadParker<NoSpinPlatform>::kLookEvery));
  EXPECT_EQ(asked.late(), 1);
  mutex.unlock(kAnna);
}

TEST(WatchTest, OneWatchAfterTheOther) {
  BasicMutex<NoSpinPlatform> mutex;
  mutex.lock(kAnna);
  Asked first;
  Asked second;
  first.request();
  second.request();
  {
    const Watch watch(first);
    EXPECT_FALSE(mutex.lock());
    EXPECT_FALSE(mutex.lock());
  }
  {
    const Watch watch(second);
    EXPECT_FALSE(mutex.lock());
  }
  EXPECT_EQ(first.late(), 2);
  EXPECT_EQ(second.late(), 1);
  mutex.unlock(kAnna);
}

TEST(WatchTest, OneWatchWithinTheOther) {
  BasicMutex<NoSpinPlatform> mutex;
  mutex.lock(kAnna);
  Asked outer;
  Asked inner;
  const Watch watch(outer);
  {
    const Watch within(inner);
    inner.request();
    EXPECT_FALSE(mutex.lock());
  }
  outer.request();
  EXPECT_FALSE(mutex.lockFor(1min));
  EXPECT_EQ(outer.late(), 1) << "the outer one still holds when the inner one has ended";
  EXPECT_EQ(inner.late(), 1);
  mutex.unlock(kAnna);
}

TEST(WatchTest, OtherThreadsAreNotConcerned) {
  BasicMutex<NoSpinPlatform> mutex;
  mutex.lock(kAnna);
  Asked asked;
  asked.request();
  const Watch watch(asked);
  std::thread other([&] {
    EXPECT_TRUE(mutex.lock());
    mutex.unlock();
  });
  awaitQueue<NoSpinPlatform>(&mutex, 1);
  EXPECT_FALSE(mutex.lock());
  mutex.unlock(kAnna);
  other.join();
}

}  // namespace
}  // namespace boxoffice::test
