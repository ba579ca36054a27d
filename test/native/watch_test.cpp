// Blocked threads that somebody wants back who cannot wake them: ThreadParker::Watch.
#include <functional>
#include <future>

#include "support.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using Watch = ThreadParker<NoSpinPlatform>::Watch;

class Asked final : public Stop {
 public:
  bool isRequested() noexcept override {
    const bool requested = requested_.load();
    ++(requested ? late_ : looks_);
    return requested;
  }
  void request() { requested_ = true; }
  void revoke() { requested_ = false; }
  /// How often it was looked at before and after it was requested.
  int looks() const { return looks_; }
  int late() const { return late_; }

 private:
  std::atomic<bool> requested_{false};
  std::atomic<int> looks_{0};
  std::atomic<int> late_{0};
};

/// `wait()`, which blocks in the line of the word at `address`, comes back when that is requested, after
/// no more than so many looks.
template <class Wait>
void expectBack(const void* address, Wait&& wait, int looks = 1) {
  Asked asked;
  std::thread thread([&] {
    const Watch watch(asked);
    EXPECT_FALSE(wait());
    EXPECT_EQ(lineSize<NoSpinPlatform>(address), 0U) << "it has left the line";
  });
  awaitLine<NoSpinPlatform>(address, 1);
  await([&] { return asked.looks() >= 2; });
  EXPECT_EQ(lineSize<NoSpinPlatform>(address), 1U) << "a look does not end a wait";
  asked.request();
  thread.join();
  EXPECT_GE(asked.late(), 1);
  EXPECT_LE(asked.late(), looks);
  EXPECT_EQ(NoSpinPlatform::lot().lines(), 0U);
}

TEST(WatchTest, OfAMutex) {
  BasicMutex<NoSpinPlatform> mutex;
  mutex.lock(kAnna);
  expectBack(&mutex, [&] { return mutex.lock().granted; });
  expectBack(&mutex, [&] { return mutex.lockFor(1h).granted; });
  mutex.unlock(kAnna);
  EXPECT_EQ(wordOf(mutex).load(), 0U);
}

TEST(WatchTest, OfARecursiveMutex) {
  BasicRecursiveMutex<NoSpinPlatform> mutex;
  mutex.lock(kAnna);
  expectBack(&mutex, [&] { return mutex.lock().granted; });
  mutex.unlock(kAnna);
}

TEST(WatchTest, OfASemaphore) {
  BasicWeightedSemaphore<NoSpinPlatform> semaphore(1);
  expectBack(&semaphore, [&] { return semaphore.acquire(2).granted; });
  EXPECT_EQ(semaphore.value(), 1);
  EXPECT_TRUE(semaphore.tryAcquire());
}

TEST(WatchTest, OfEvents) {
  BasicAutoResetEvent<NoSpinPlatform> one;
  expectBack(&one, [&] { return one.waitUntil(kNever); });
  one.signal();
  EXPECT_TRUE(one.tryWait()) << "it took no signal with it";
  BasicManualResetEvent<NoSpinPlatform> all;
  expectBack(&all, [&] { return all.waitUntil(kNever); });
}

TEST(WatchTest, OfAReadWriteLock) {
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

TEST(WatchTest, OfALockSet) {
  BasicMutex<NoSpinPlatform> mutex[2];
  mutex[1].lock(kAnna);
  BasicLockSet<NoSpinPlatform> set{&mutex[0], &mutex[1]};
  expectBack(&mutex[1], [&] { return set.lock().granted; });
  EXPECT_FALSE(mutex[0].isLocked());
  mutex[1].unlock(kAnna);
}

TEST(WatchTest, OfAConditionThatNobodyNotifies) {
  BasicMutex<NoSpinPlatform> mutex;
  BasicConditionVariable<NoSpinPlatform> condition;
  expectBack(&condition, [&] {
    mutex.lock();
    const auto outcome = condition.waitUntil(mutex, kNever);
    EXPECT_TRUE(outcome.entry.granted) << "the mutex was free";
    EXPECT_EQ(mutex.owner(), NoSpinPlatform::agent());
    mutex.unlock();
    return outcome.notified;
  });
  EXPECT_EQ(wordOf(mutex).load(), 0U);
}

TEST(WatchTest, OfAConditionWhoseMutexIsHeld) {
  BasicMutex<NoSpinPlatform> mutex;
  BasicConditionVariable<NoSpinPlatform> condition;
  std::atomic<bool> in{false};
  std::thread holder([&] {
    await([&] { return in.load(); });
    awaitLine<NoSpinPlatform>(&condition, 1);
    mutex.lock(kAnna);
  });
  expectBack(
      &condition,
      [&] {
        mutex.lock();
        in = true;
        const auto outcome = condition.waitUntil(mutex, kNever);
        EXPECT_EQ(outcome.entry.granted, mutex.owner() == NoSpinPlatform::agent());
        if (outcome.entry.granted) mutex.unlock();
        return outcome.notified;
      },
      2);
  holder.join();
  mutex.unlock(kAnna);
  EXPECT_EQ(wordOf(mutex).load(), 0U);
}

TEST(WatchTest, OfAConditionThatNotifiedUsWhileTheMutexIsHeld) {
  BasicMutex<NoSpinPlatform> mutex;
  BasicConditionVariable<NoSpinPlatform> condition;
  Asked asked;
  auto outcome = std::async(std::launch::async, [&] {
    mutex.lock();
    const Watch watch(asked);
    const auto how = condition.waitUntil(mutex, kNever);
    if (how.entry.granted) mutex.unlock();
    return how;
  });
  awaitLine<NoSpinPlatform>(&condition, 1);
  mutex.lock(kAnna);
  condition.notifyOne();
  awaitLine<NoSpinPlatform>(&mutex, 1);
  asked.request();
  const bool isBack = outcome.wait_for(2s) == std::future_status::ready;
  EXPECT_TRUE(isBack) << "whoever holds the mutex may wait for this very thread to end";
  mutex.unlock(kAnna);  // else it would hang here
  const auto how = outcome.get();
  EXPECT_TRUE(how.notified) << "so that the caller can notify another";
  EXPECT_NE(how.entry.granted, isBack);
  EXPECT_EQ(wordOf(mutex).load(), 0U);
  EXPECT_EQ(NoSpinPlatform::lot().lines(), 0U);
}

/// Lets `afterSleep` run on a thread that has been woken, before it does anything else.
struct HookedPlatform : NativePlatform<HookedPlatform> {
  static inline thread_local std::function<void()> afterSleep;

  class Semaphore : public boxoffice::Semaphore {
   public:
    using boxoffice::Semaphore::Semaphore;
    void wait() noexcept { waitUntil(kNever); }
    bool waitUntil(Deadline deadline) noexcept {
      const bool woken = boxoffice::Semaphore::waitUntil(deadline);
      if (woken && afterSleep) std::exchange(afterSleep, nullptr)();
      return woken;
    }
  };
  static constexpr int kBusyLooks = 0;
  static constexpr int kYieldLooks = 0;
  static Deadline now() noexcept { return Clock::now(); }
};

TEST(WatchTest, OfAConditionWhoseMutexWasTakenBeforeUs) {
  using Hooked = HookedPlatform;
  BasicMutex<Hooked> mutex;
  BasicConditionVariable<Hooked> condition;
  Asked asked;
  std::thread thread([&] {
    mutex.lock();
    const ThreadParker<Hooked>::Watch watch(asked);
    // Invited, it comes too late: somebody else has taken the mutex, and keeps it.
    Hooked::afterSleep = [&] {
      while (!mutex.tryLock(kBen)) std::this_thread::yield();
      asked.request();
    };
    const auto how = condition.waitUntil(mutex, kNever);
    EXPECT_TRUE(how.notified);
    EXPECT_EQ(how.entry.granted, mutex.owner() == Hooked::agent())
        << "it says that it holds the mutex";
    if (mutex.owner() == Hooked::agent()) mutex.unlock();
  });
  awaitLine<Hooked>(&condition, 1);
  mutex.lock(kAnna);
  condition.notifyOne();
  mutex.unlock(kAnna);
  thread.join();
  if (mutex.owner() == kBen) mutex.unlock(kBen);
  EXPECT_EQ(wordOf(mutex).load(), 0U);
}

TEST(WatchTest, ADeadlineIsHonouredToTheMoment) {
  BasicMutex<NoSpinPlatform> mutex;
  mutex.lock(kAnna);
  Asked asked;
  const Watch watch(asked);
  constexpr auto kLook = ThreadParker<NoSpinPlatform>::kLookEvery;
  for (const auto& [timeout, most] : {std::pair<std::chrono::nanoseconds, int>{0ns, 0},
                                      {1ms, 0},
                                      {kLook - 1ms, 0},
                                      {kLook + 5ms, 1},
                                      {3 * kLook - 1ms, 2}}) {
    const int before = asked.looks();
    const auto start = Clock::now();
    EXPECT_FALSE(mutex.lockFor(timeout));
    EXPECT_GE(Clock::now() - start, timeout);
    EXPECT_LE(asked.looks() - before, most);
    EXPECT_TRUE(timeout < kLook || asked.looks() > before);
  }
  asked.request();
  const auto start = Clock::now();
  EXPECT_FALSE(mutex.lockFor(kLook / 2)) << "no look is due before the deadline";
  EXPECT_GE(Clock::now() - start, kLook / 2);
  EXPECT_EQ(asked.late(), 0);
  mutex.unlock(kAnna);
}

TEST(WatchTest, WhoeverGetsInAtOnceDoesNotLook) {
  BasicMutex<NoSpinPlatform> mutex;
  Asked asked;
  asked.request();
  const Watch watch(asked);
  EXPECT_TRUE(mutex.lock());
  EXPECT_EQ(asked.late(), 0);
  mutex.unlock();
}

TEST(WatchTest, WithoutAWatchNobodyLooks) {
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

TEST(WatchTest, OneAfterTheOther) {
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

TEST(WatchTest, OneWithinTheOther) {
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
  EXPECT_FALSE(mutex.lockFor(2 * ThreadParker<NoSpinPlatform>::kLookEvery));
  EXPECT_GE(outer.looks(), 1) << "the outer one still holds when the inner one has ended";
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
  awaitLine<NoSpinPlatform>(&mutex, 1);
  EXPECT_FALSE(mutex.lock());
  mutex.unlock(kAnna);
  other.join();
}

}  // namespace
}  // namespace boxoffice::test
