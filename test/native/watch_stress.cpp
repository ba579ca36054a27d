// Admissions that race a stop: a waiter either has the lock or has left no trace.
#include "stress.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

/// Threads check their Stop about every 50 us instead of every 25 ms.
struct HastyPlatform : NativePlatform<HastyPlatform> {
  static Deadline now() noexcept {
    return Clock::now() - ThreadParker<HastyPlatform>::kLookEvery + 50us;
  }
  static constexpr int kBusyLooks = 0;
  static constexpr int kYieldLooks = 0;
};
using P = HastyPlatform;

/// Requests a stop at random, by the checking thread's dice.
class Moody final : public Stop {
 public:
  explicit Moody(Dice& dice) : dice_(dice) {}
  bool isRequested() noexcept override { return dice_(2) == 0; }

 private:
  Dice& dice_;
};

class WatchStress : public testing::Test {
 protected:
  ~WatchStress() override { expectNoWaiters<P>(); }
};

/// Often long enough for waiting threads to check their Stop.
void stay(Dice& dice) {
  dice.dwell();
  if (dice(4) == 0) std::this_thread::sleep_for(dice.upTo(100us));
}

TEST_F(WatchStress, CallsBackTheWaitersOfAMutex) {
  BasicMutex<P> mutex;
  Room room;
  Tally tally;
  const auto met = [&] { return tally.timedOut > 0; };
  inThreadsUntil(met, kThreads, [&](int, Dice& dice) {
    Moody moody(dice);
    for (int i = 0; i < rounds(4'000); ++i) {
      std::optional<ThreadParker<P>::Watch> watch;
      if (dice(4) != 0) watch.emplace(moody);
      const Entry in = mutex.lock();
      if (!tally.timed(in.granted)) {
        EXPECT_TRUE(watch.has_value());
        continue;
      }
      room.enter(in.abandoned);
      stay(dice);
      room.leave();
      mutex.unlock();
    }
  });
  EXPECT_EQ(room.visits(), tally.in);
  EXPECT_GT(tally.timedOut, 0);
  EXPECT_EQ(wordOf(mutex).load(), 0U);
}

TEST_F(WatchStress, CallsBackTheWaitersOfASemaphore) {
  constexpr std::int32_t kAll = 3;
  BasicWeightedSemaphore<P> semaphore(kAll);
  std::atomic<std::int32_t> inside{0};
  Violations violations;
  Tally tally;
  const auto met = [&] { return tally.timedOut > 0; };
  inThreadsUntil(met, kThreads, [&](int, Dice& dice) {
    Moody moody(dice);
    for (int i = 0; i < rounds(4'000); ++i) {
      std::optional<ThreadParker<P>::Watch> watch;
      if (dice(4) != 0) watch.emplace(moody);
      const std::int32_t weight = 1 + dice(kAll);
      if (!tally.timed(semaphore.acquire(weight).granted)) continue;
      violations.unless((inside += weight) <= kAll);
      stay(dice);
      inside -= weight;
      semaphore.release(weight);
    }
  });
  EXPECT_GT(tally.timedOut, 0);
  EXPECT_EQ(wordOf(semaphore).load(), static_cast<std::uint32_t>(kAll) << 2);
}

TEST_F(WatchStress, CallsBackTheWaitersOfAnEvent) {
  // Each signal that finds the event clear admits one waiter, or the event is still set at the end.
  BasicAutoResetEvent<P> event;
  std::atomic<long> passed{0};
  std::atomic<long> back{0};
  std::atomic<int> over{0};
  constexpr int kSignallers = 2;
  inThreads(kThreads, [&](int index, Dice& dice) {
    if (index < kSignallers) {
      // Continues until a wait was stopped: the waiters may start late.
      for (int i = 0; i < rounds(4'000) || back == 0; ++i) {
        event.signal();
        stay(dice);
        // Waits until a waiter takes the signal: a lost one stops the test.
        while (event.isSet()) std::this_thread::yield();
      }
      ++over;
      return;
    }
    Moody moody(dice);
    const ThreadParker<P>::Watch watch(moody);
    while (over < kSignallers) ++(event.waitUntil(kNever) ? passed : back);
  });
  EXPECT_GT(passed, 0);
  EXPECT_GT(back, 0);
  EXPECT_FALSE(event.isSet());
}

TEST_F(WatchStress, CallsBackTheWaitersOfACondition) {
  BasicMutex<P> mutex;
  BasicConditionVariable<P> condition;
  Room room;
  Tally tally;
  const auto met = [&] { return tally.in > 0 && tally.timedOut > 0; };
  inThreadsUntil(met, kThreads, [&](int index, Dice& dice) {
    Moody moody(dice);
    for (int i = 0; i < rounds(3'000); ++i) {
      if (index % 2 == 0) {
        room.enter(mutex.lock().abandoned);
        stay(dice);
        room.leave();
        if (dice(2) == 0) condition.notifyOne();
        mutex.unlock();
        condition.notifyAll();
        continue;
      }
      room.enter(mutex.lock().abandoned);
      room.leave();
      std::optional<ThreadParker<P>::Watch> watch(moody);
      const auto how = condition.waitUntil(mutex, kNever);
      watch.reset();
      tally.timed(how.notified);
      // A stopped wait may return without the mutex, and reports that.
      if (!how.entry.granted) continue;
      EXPECT_EQ(mutex.owner(), P::agent());
      room.enter(how.entry.abandoned);
      dice.dwell();
      room.leave();
      mutex.unlock();
    }
  });
  EXPECT_GT(tally.in, 0);
  EXPECT_GT(tally.timedOut, 0);
  EXPECT_EQ(wordOf(mutex).load(), 0U);
  EXPECT_EQ(wordOf(condition).load(), 0U);
}

}  // namespace
}  // namespace boxoffice::test
