// Readers and writers that upgrade, downgrade, time out and die.
#include "event_loop.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

template <class P>
class RWLockStress : public testing::Test {
 protected:
  ~RWLockStress() override {
    const bool untold = (wordOf(lock_).load() & RWLockRules::kAbandoned) != 0;
    EXPECT_EQ(deaths_, told_ + untold) << "each death is told to one";
    EXPECT_EQ(lock_.readers(), 0U);
    EXPECT_EQ(lock_.writer(), kNoAgent);
    expectNoWaiters<P>();
  }

  void hear(bool abandoned) { told_ += abandoned; }

  void visit(Dice& dice) {
    if (dice(4) == 0) {
      const Entry entry = dice(2) ? lock_.lockWrite() : timedWrite(dice);
      if (entry) writeAndGo(entry, dice);
    } else {
      const Entry entry = dice(2) ? lock_.lockRead() : timedRead(dice);
      if (entry) readAndGo(entry, dice);
    }
  }

  Entry timedWrite(Dice& dice) {
    const Entry entry = lock_.lockWriteUntil(Clock::now() + dice.upTo(50us));
    timed_.timed(entry.granted);
    return entry;
  }
  Entry timedRead(Dice& dice) {
    const Entry entry = lock_.lockReadUntil(Clock::now() + dice.upTo(50us));
    timed_.timed(entry.granted);
    return entry;
  }

  void writeAndGo(Entry entry, Dice& dice) {
    hear(entry.abandoned);
    book_.write();
    dice.dwell();
    const int edition = book_.read();
    switch (dice(8)) {
      case 0:
        lock_.downgrade();
        violations_.unless(book_.read() == edition);
        dice.dwell();
        lock_.unlockRead();
        break;
      case 1:
        ++deaths_;
        EXPECT_TRUE(lock_.abandon(P::agent()));
        break;
      default:
        lock_.unlockWrite();
    }
  }

  void readAndGo(Entry entry, Dice& dice) {
    hear(entry.abandoned);
    const int edition = book_.read();
    dice.dwell();
    if (dice(4) == 0) {
      const Deadline deadline = dice(2) ? kNever : Clock::now() + dice.upTo(50us);
      if (upgrades_.timed(lock_.upgradeUntil(deadline).granted)) {
        violations_.unless(book_.read() == edition);
        book_.write();
        lock_.unlockWrite();
        return;
      }
    }
    violations_.unless(book_.read() == edition);
    lock_.unlockRead();
  }

  BasicRWLock<P> lock_;
  Book book_;
  Violations violations_;
  std::atomic<int> deaths_{0};
  std::atomic<int> told_{0};
  Tally timed_;
  Tally upgrades_;
};

using Platforms = testing::Types<Platform, NoSpinPlatform>;
TYPED_TEST_SUITE(RWLockStress, Platforms);

TYPED_TEST(RWLockStress, ReadersWritersUpgradesAndDeaths) {
  const auto met = [this] {
    return this->timed_.in > 0 && this->timed_.timedOut > 0 && this->upgrades_.in > 0 &&
           this->upgrades_.timedOut > 0;
  };
  inThreadsUntil(met, kThreads, [this](int, Dice& dice) {
    for (int i = 0; i < rounds(12'000); ++i) this->visit(dice);
  });
  EXPECT_GT(this->timed_.in, 0);
  EXPECT_GT(this->timed_.timedOut, 0);
  EXPECT_GT(this->upgrades_.in, 0);
  EXPECT_GT(this->upgrades_.timedOut, 0);
}

TYPED_TEST(RWLockStress, ThreadsAndEventLoopsInOneQueue) {
  using Lock = BasicRWLock<TypeParam>;
  LoopTally loops;
  const Visit<Lock> visits{
      this->lock_,
      [](Waiter& w, Dice& dice) { w.ask = dice(4) ? RWLockRules::kRead : RWLockRules::kWrite; },
      [this](Waiter& w) {
        this->hear(w.abandoned);
        if (w.ask == RWLockRules::kWrite) {
          this->book_.write();
        } else {
          this->book_.read();
        }
      },
      [this](Waiter& w) {
        this->book_.read();
        if (w.ask == RWLockRules::kWrite) {
          this->lock_.unlockWrite(w.agent);
        } else {
          this->lock_.unlockRead(w.agent);
        }
      }};
  const auto met = [&] { return loops.left > 0 && loops.tooLate > 0; };
  inThreadsUntil(met, kThreads, [&](int index, Dice& dice) {
    if (index % 2 == 0) {
      EventLoop<Lock>(visits, loops, index).run(rounds(200'000));
    } else {
      for (int i = 0; i < rounds(20'000); ++i) this->visit(dice);
    }
  });
  EXPECT_GT(loops.left, 0);
  EXPECT_GT(loops.tooLate, 0);
}

}  // namespace
}  // namespace boxoffice::test
