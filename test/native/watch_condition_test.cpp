// Stopping blocked threads (watch_test.cpp) while they wait for a condition, and then for its mutex.
#include <future>

#include "watched.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

TEST(WatchTest, CallsBackTheWaitersOfAConditionWithoutANotification) {
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

TEST(WatchTest, CallsBackTheWaitersOfAConditionWhoseMutexIsHeld) {
  BasicMutex<NoSpinPlatform> mutex;
  BasicConditionVariable<NoSpinPlatform> condition;
  expectBack(
      &condition,
      [&] {
        mutex.lock();
        const auto outcome = condition.waitUntil(mutex, kNever);
        EXPECT_FALSE(outcome.entry.granted);
        EXPECT_EQ(mutex.owner(), kAnna);
        return outcome.notified;
      },
      2, [&] { mutex.lock(kAnna); });
  mutex.unlock(kAnna);
  EXPECT_EQ(wordOf(mutex).load(), 0U);
}

TEST(WatchTest, CallsNoPredicateOfAConditionWithoutItsMutex) {
  BasicMutex<NoSpinPlatform> mutex;
  BasicConditionVariable<NoSpinPlatform> condition;
  expectBack(
      &condition,
      [&] {
        const AgentId me = NoSpinPlatform::agent();
        mutex.lock(me);
        const auto done = [&] {
          EXPECT_EQ(mutex.owner(), me);
          return false;
        };
        const bool isDone = condition.waitUntil(mutex, kNever, done);
        EXPECT_EQ(mutex.owner(), kAnna);
        return isDone;
      },
      2, [&] { mutex.lock(kAnna); });
  mutex.unlock(kAnna);
}

TEST(WatchTest, CallsBackTheWaitersOfAConditionThatNotifiedUsWhileTheMutexIsHeld) {
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
  awaitQueue<NoSpinPlatform>(&condition, 1);
  mutex.lock(kAnna);
  condition.notifyOne();
  awaitQueue<NoSpinPlatform>(&mutex, 1);
  asked.request();
  const bool isBack = outcome.wait_for(1min) == std::future_status::ready;
  EXPECT_TRUE(isBack) << "the mutex's holder may wait for this very thread to end";
  mutex.unlock(kAnna);  // so that get() returns even after a failure
  const auto how = outcome.get();
  EXPECT_TRUE(how.notified) << "so that the caller can notify another";
  EXPECT_NE(how.entry.granted, isBack);
  EXPECT_EQ(wordOf(mutex).load(), 0U);
  EXPECT_EQ(NoSpinPlatform::lot().queues(), 0U);
}

/// Runs `afterSleep` on a woken thread before it continues. The clock stops at `end`.
struct HookedPlatform : NativePlatform<HookedPlatform> {
  static inline thread_local std::function<void()> afterSleep;
  static inline std::atomic<Deadline> end{kNever};

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
  static Deadline now() noexcept { return std::min(Clock::now(), end.load()); }
};

TEST(WatchTest, CallsBackTheWaitersOfAConditionWhoseMutexAnotherAgentTook) {
  using Hooked = HookedPlatform;
  BasicMutex<Hooked> mutex;
  BasicConditionVariable<Hooked> condition;
  Asked asked;
  std::thread thread([&] {
    mutex.lock();
    const ThreadParker<Hooked>::Watch watch(asked);
    // The invited thread is too late: another agent has taken the mutex and keeps it.
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
  awaitQueue<Hooked>(&condition, 1);
  mutex.lock(kAnna);
  // The clock stops, since the mutex would be handed to a waiter whose patience is over.
  Hooked::end = Clock::now();
  condition.notifyOne();
  mutex.unlock(kAnna);
  Hooked::end = kNever;
  thread.join();
  if (mutex.owner() == kBen) mutex.unlock(kBen);
  EXPECT_EQ(wordOf(mutex).load(), 0U);
}

}  // namespace
}  // namespace boxoffice::test
