// Mutexes under threads that lock, try, time out and die, and event loops that cancel waits.
#include "event_loop.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

template <class P>
class MutexStress : public testing::Test {
 protected:
  ~MutexStress() override {
    EXPECT_EQ(wordOf(mutex_).load() & ~MutexRules::kAbandoned, 0U) << "free, at most abandoned";
    expectNoWaiters<P>();
  }

  // One visit of a thread, by a random way to acquire; sometimes the thread dies inside.
  void visit(Dice& dice) {
    const Entry entry = goIn(dice);
    if (!entry) return;
    room_.enter(entry.abandoned);
    dice.dwell();
    if (dice(64) == 0) {
      room_.die();
      EXPECT_TRUE(mutex_.abandon(P::agent()));
    } else {
      room_.leave();
      mutex_.unlock();
    }
  }

  Entry goIn(Dice& dice) {
    Entry entry;
    switch (dice(4)) {
      case 0:
        entry = mutex_.lock();
        ++tally_.in;
        break;
      case 1:
        entry = mutex_.tryLock();
        tally_.tried(entry.granted);
        break;
      default:
        entry = mutex_.lockFor(dice.upTo(50us));
        tally_.timed(entry.granted);
    }
    return entry;
  }

  BasicMutex<P> mutex_;
  Room room_;
  Tally tally_;
};

using Platforms = testing::Types<Platform, NoSpinPlatform>;
TYPED_TEST_SUITE(MutexStress, Platforms);

TYPED_TEST(MutexStress, ThreadsThatLockTryTimeOutAndDie) {
  const auto met = [this] { return this->tally_.timedOut > 0 && this->tally_.refused > 0; };
  inThreadsUntil(met, kThreads, [this](int, Dice& dice) {
    for (int i = 0; i < rounds(100'000); ++i) this->visit(dice);
  });
  EXPECT_EQ(this->room_.visits(), this->tally_.in);
  EXPECT_GT(this->tally_.timedOut, 0);
  EXPECT_GT(this->tally_.refused, 0);
}

TYPED_TEST(MutexStress, TimeoutsThatRaceHandOffs) {
  // Holds are about as long as the timeouts, so that timeouts race hand-offs.
  const auto met = [this] { return this->tally_.timedOut > 100 && this->tally_.in > 100; };
  inThreadsUntil(met, kThreads, [this](int, Dice& dice) {
    for (int i = 0; i < rounds(10'000); ++i) {
      if (!this->tally_.timed(this->mutex_.lockFor(dice.upTo(50us)).granted)) continue;
      this->room_.enter(false);
      const Deadline end = Clock::now() + dice.upTo(20us);
      while (Clock::now() < end) TypeParam::relax();
      this->room_.leave();
      this->mutex_.unlock();
    }
  });
  EXPECT_EQ(this->room_.visits(), this->tally_.in);
  EXPECT_GT(this->tally_.timedOut, 100);
  EXPECT_GT(this->tally_.in, 100);
}

TYPED_TEST(MutexStress, ThreadsAndEventLoopsInOneQueue) {
  using Lock = BasicMutex<TypeParam>;
  LoopTally loops;
  const Visit<Lock> visit{this->mutex_,
                          [](Waiter& w, Dice& dice) {
                            w.priority = dice(8) == 0 ? 1 : 0;
                            w.mayBeOvertaken = dice(2) == 0;
                          },
                          [this](Waiter& w) { this->room_.enter(w.abandoned); },
                          [this](Waiter& w) {
                            this->room_.leave();
                            this->mutex_.unlock(w.agent);
                          }};
  const auto met = [&] { return loops.left > 0 && loops.leftAwake > 0 && loops.tooLate > 0; };
  inThreadsUntil(met, kThreads, [&](int index, Dice& dice) {
    if (index % 2 == 0) {
      EventLoop<Lock>(visit, loops, index).run(rounds(200'000));
    } else {
      for (int i = 0; i < rounds(20'000); ++i) this->visit(dice);
    }
  });
  EXPECT_EQ(this->room_.visits(), this->tally_.in + loops.in);
  EXPECT_GT(loops.left, 0);
  EXPECT_GT(loops.leftAwake, 0);
  EXPECT_GT(loops.tooLate, 0);
}

TEST(RecursiveMutexStress, NestedLocksOfEveryKind) {
  RecursiveMutex mutex;
  Room room;
  Tally tally;
  const auto met = [&] { return tally.timedOut > 0; };
  inThreadsUntil(met, kThreads, [&](int, Dice& dice) {
    for (int i = 0; i < rounds(60'000); ++i) {
      const bool in = dice(2) ? mutex.lock().granted : mutex.lockFor(dice.upTo(50us)).granted;
      if (!tally.timed(in)) continue;
      room.enter(false);
      const int depth = dice(4);
      for (int k = 0; k < depth; ++k) EXPECT_TRUE(k % 2 ? mutex.tryLock() : mutex.lock());
      dice.dwell();
      EXPECT_EQ(mutex.depth(), static_cast<std::uint32_t>(depth) + 1);
      for (int k = 0; k < depth; ++k) mutex.unlock();
      room.leave();
      mutex.unlock();
    }
  });
  EXPECT_EQ(room.visits(), tally.in);
  EXPECT_GT(tally.timedOut, 0);
  EXPECT_EQ(mutex.owner(), kNoAgent);
  expectNoWaiters<Platform>();
}

}  // namespace
}  // namespace boxoffice::test
