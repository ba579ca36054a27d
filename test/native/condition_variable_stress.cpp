// A bounded queue over a mutex and two condition variables: each item comes out exactly once.
#include <deque>

#include "stress.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

template <class P>
class BoundedQueue {
 public:
  void push(long item, Dice& dice) {
    lock();
    waitFor(notFull_, dice, [this] { return items_.size() < kCapacity; });
    items_.push_back(item);
    unlock();
    notEmpty_.notifyOne();
  }

  long pop(Dice& dice) {
    lock();
    waitFor(notEmpty_, dice, [this] { return !items_.empty(); });
    const long item = items_.front();
    items_.pop_front();
    unlock();
    notFull_.notifyOne();
    return item;
  }

  const Tally& tally() const { return tally_; }

  /// Checks that all words have their initial values.
  void expectPristine() {
    EXPECT_TRUE(items_.empty());
    EXPECT_EQ(wordOf(mutex_).load(), 0U);
    EXPECT_EQ(wordOf(notFull_).load(), 0U);
    EXPECT_EQ(wordOf(notEmpty_).load(), 0U);
  }

 private:
  static constexpr std::size_t kCapacity = 3;

  void lock() {
    mutex_.lock();
    room_.enter(false);
  }
  void unlock() {
    room_.leave();
    mutex_.unlock();
  }

  // Some wait without a deadline, so that a lost notification stops the test; some time out and look.
  template <class Ready>
  void waitFor(BasicConditionVariable<P>& condition, Dice& dice, Ready&& ready) {
    while (!ready()) {
      room_.leave();
      const auto outcome = condition.waitFor(mutex_, dice(2) ? 1h : dice.upTo(50us));
      room_.enter(outcome.entry.abandoned);
      tally_.timed(outcome.notified);
    }
  }

  BasicMutex<P> mutex_;
  BasicConditionVariable<P> notFull_;
  BasicConditionVariable<P> notEmpty_;
  std::deque<long> items_;
  Room room_;
  Tally tally_;
};

template <class P>
class ConditionVariableStress : public testing::Test {
 protected:
  ~ConditionVariableStress() override { expectNoWaiters<P>(); }
};

using Platforms = testing::Types<Platform, NoSpinPlatform>;
TYPED_TEST_SUITE(ConditionVariableStress, Platforms);

TYPED_TEST(ConditionVariableStress, ABoundedQueue) {
  const long each = rounds(10'000);
  BoundedQueue<TypeParam> queue;
  std::atomic<long> pushed{0};
  std::atomic<long> popped{0};
  const auto run = [&](int index, Dice& dice) {
    for (long i = 0; i < each; ++i) {
      if (index % 2 == 0) {
        const long item = i * kThreads + index;
        pushed += item;
        queue.push(item, dice);
      } else {
        popped += queue.pop(dice);
      }
      dice.dwell();
    }
  };
  const Tally& tally = queue.tally();
  inThreadsUntil([&] { return tally.in > 0 && tally.timedOut > 0; }, kThreads, run);
  EXPECT_EQ(pushed, popped);
  EXPECT_GT(tally.in, 0);
  EXPECT_GT(tally.timedOut, 0);
  queue.expectPristine();
}

TYPED_TEST(ConditionVariableStress, NotifyAllWakesWholeRounds) {
  BasicMutex<TypeParam> mutex;
  BasicConditionVariable<TypeParam> condition;
  Room room;
  int arrived = 0;
  int round = 0;
  inThreads(kThreads, [&](int, Dice&) {
    for (int r = 0; r < rounds(3'000); ++r) {
      room.enter(mutex.lock().abandoned);
      EXPECT_EQ(round, r);
      if (++arrived == kThreads) {
        arrived = 0;
        ++round;
        condition.notifyAll();
      }
      while (round == r) {
        room.leave();
        room.enter(condition.wait(mutex).abandoned);
      }
      room.leave();
      mutex.unlock();
    }
  });
  EXPECT_EQ(round, rounds(3'000));
}

}  // namespace
}  // namespace boxoffice::test
