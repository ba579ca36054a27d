// Semaphores: no signal is lost or invented, and the holders never exceed the value.
#include "event_loop.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

template <class Sema>
class SemaphoreStress : public testing::Test {
 protected:
  int drain() {
    int count = 0;
    while (semaphore_.tryWait()) ++count;
    return count;
  }

  bool take(Dice& dice) {
    switch (dice(4)) {
      case 0:
        return tally_.tried(semaphore_.tryWait());
      case 1:
        semaphore_.wait();
        ++tally_.in;
        return true;
      default:
        return tally_.timed(semaphore_.waitFor(dice.upTo(50us)));
    }
  }

  Sema semaphore_;
  Tally tally_;
};

using Semaphores = testing::Types<Semaphore, BasicLightweightSemaphore<Platform>,
                                  BasicLightweightSemaphore<NoSpinPlatform>>;
TYPED_TEST_SUITE(SemaphoreStress, Semaphores);

TYPED_TEST(SemaphoreStress, AsAMutex) {
  Room room;
  this->semaphore_.signal();
  const auto met = [this] { return this->tally_.timedOut > 0; };
  inThreadsUntil(met, kThreads, [&](int, Dice& dice) {
    for (int i = 0; i < rounds(50'000); ++i) {
      if (!this->take(dice)) continue;
      room.enter(false);
      dice.dwell();
      room.leave();
      this->semaphore_.signal();
    }
  });
  EXPECT_EQ(room.visits(), this->tally_.in);
  EXPECT_GT(this->tally_.timedOut, 0);
  EXPECT_EQ(this->drain(), 1);
}

TYPED_TEST(SemaphoreStress, TimeoutsThatRaceSignalsTakeAndLeaveNothing) {
  std::atomic<long> signals{0};
  const auto met = [this] { return this->tally_.in > 0 && this->tally_.timedOut > 0; };
  inThreadsUntil(met, kThreads, [&](int index, Dice& dice) {
    for (int i = 0; i < rounds(10'000); ++i) {
      if (index % 2 == 0) {
        this->tally_.timed(this->semaphore_.waitFor(dice.upTo(20us)));
      } else {
        const int n = dice(3);
        this->semaphore_.signal(n);
        signals += n;
        const Deadline end = Clock::now() + dice.upTo(20us);
        while (Clock::now() < end) std::this_thread::yield();
      }
    }
  });
  EXPECT_EQ(signals, this->tally_.in + this->drain());
  EXPECT_GT(this->tally_.in, 0);
  EXPECT_GT(this->tally_.timedOut, 0);
}

TYPED_TEST(SemaphoreStress, EveryWaiterIsWokenByAsManySignals) {
  const int each = rounds(20'000);
  inThreads(kThreads, [&](int index, Dice& dice) {
    for (int left = each; left > 0;) {
      if (index % 2 == 0) {
        this->semaphore_.wait();
        --left;
      } else {
        const int n = std::min(left, dice(4));
        this->semaphore_.signal(n);
        left -= n;
        dice.dwell();
      }
    }
  });
  EXPECT_EQ(this->drain(), 0);
}

constexpr int kCapacity = 5;

class WeightedSemaphoreStress : public testing::Test {
 protected:
  ~WeightedSemaphoreStress() override {
    EXPECT_EQ(semaphore_.value(), kCapacity);
    EXPECT_EQ(used_, 0);
    expectNoWaiters<Platform>();
  }

  // A holder of all units is alone.
  void enter(int weight) {
    violations_.unless(used_.fetch_add(weight, std::memory_order_relaxed) + weight <= kCapacity);
    if (weight == kCapacity) {
      book_.write();
    } else {
      book_.read();
    }
  }
  void leave(int weight) { used_.fetch_sub(weight, std::memory_order_relaxed); }

  bool take(int weight, Dice& dice) {
    switch (dice(4)) {
      case 0:
        return tally_.tried(bool(semaphore_.tryAcquire(weight)));
      case 1:
        semaphore_.acquire(weight);
        ++tally_.in;
        return true;
      default:
        return tally_.timed(bool(semaphore_.acquireFor(dice.upTo(50us), weight, dice(3))));
    }
  }

  void visit(Dice& dice) {
    const int weight = 1 + dice(kCapacity);
    if (!take(weight, dice)) return;
    enter(weight);
    dice.dwell();
    leave(weight);
    semaphore_.release(weight);
  }

  WeightedSemaphore semaphore_{kCapacity};
  std::atomic<int> used_{0};
  Book book_;
  Violations violations_;
  Tally tally_;
};

TEST_F(WeightedSemaphoreStress, WeightsPrioritiesAndTimeouts) {
  const auto met = [this] { return tally_.timedOut > 0 && tally_.refused > 0; };
  inThreadsUntil(met, kThreads, [this](int, Dice& dice) {
    for (int i = 0; i < rounds(20'000); ++i) visit(dice);
  });
  EXPECT_GT(tally_.timedOut, 0);
  EXPECT_GT(tally_.refused, 0);
}

TEST_F(WeightedSemaphoreStress, ThreadsAndEventLoopsInOneQueue) {
  LoopTally loops;
  const Visit<WeightedSemaphore> visits{semaphore_,
                                        [](Waiter& w, Dice& dice) {
                                          w.ask = static_cast<std::uint32_t>(1 + dice(kCapacity));
                                          w.priority = dice(3);
                                        },
                                        [this](Waiter& w) { enter(static_cast<int>(w.ask)); },
                                        [this](Waiter& w) {
                                          const auto weight = static_cast<std::int32_t>(w.ask);
                                          leave(weight);
                                          semaphore_.release(weight, w.agent);
                                        }};
  const auto met = [&] { return loops.left > 0 && loops.tooLate > 0; };
  inThreadsUntil(met, kThreads, [&](int index, Dice& dice) {
    if (index % 2 == 0) {
      EventLoop<WeightedSemaphore>(visits, loops, index).run(rounds(200'000));
    } else {
      for (int i = 0; i < rounds(20'000); ++i) visit(dice);
    }
  });
  EXPECT_GT(loops.left, 0);
  EXPECT_GT(loops.tooLate, 0);
}

}  // namespace
}  // namespace boxoffice::test
