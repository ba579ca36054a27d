// Thefts under processes that read, write, steal, and are killed at every step.
#include "host/host_rw_lock.h"
#include "host_crowd.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using WorldRWLock = host::BasicHostRWLock<WorldPlatform>;

/// Each who is in draws a number, and uses it if it has not been robbed by then: so the number is from a moment
/// at which it was in. Those who are in alone publish theirs. Whoever then ends what it was granted, and not
/// only finds it stolen, has been in all the time: nobody may have published a larger number.
class HostTheftStress : public testing::Test {
 protected:
  ~HostTheftStress() override {
    world_.at<host::RWLockSlot>(0).abandoned = 0;
    world_.at<host::RWLockSlot>(0).told = 0;
    EXPECT_TRUE(WorldRWLock::isUnused(&world_.at<std::byte>(0), 0))
        << std::hex << world_.owner().bits();
    EXPECT_EQ(books().violations, 0);
    EXPECT_GT(books().visits, 0);
    EXPECT_GT(books().shares[1], 0) << "somebody has been robbed";
  }

  World::Books& books() { return world_.books(0); }

  void visit(ProcessSlot process, Dice& dice) {
    WorldRWLock& lock = world_.at<WorldRWLock>(process);
    Waiter w;
    w.agent = WorldPlatform::agent();
    const int kind = dice(8);
    w.ask = kind < 4 ? RWLockRules::kRead : RWLockRules::kWrite;
    if (kind == 7) {
      lock.steal(w);
    } else if (!lock.enterBlocking(w, dice(3) == 0 ? Clock::now() + dice.upTo(200us) : kNever)) {
      return;
    }
    dwellInside(lock, w, dice);
  }

  void dwellInside(WorldRWLock& lock, Waiter& w, Dice& dice) {
    const bool alone = w.ask == RWLockRules::kWrite;
    const long mine = books().visits.fetch_add(1) + 1;
    std::atomic<long>& last = books().told;
    if (!lock.isLost(w.era) && alone) {
      for (long seen = last; seen < mine && !last.compare_exchange_weak(seen, mine);) {
      }
    }
    dice.dwell();
    if (!world_.enough() && dice(256) == 0) World::die();
    const long newest = last;
    const bool kept = alone ? lock.endWrite(w.agent, w.era) : lock.endRead(w.era);
    if (kept && newest > mine) books().violations.fetch_add(1);
    if (!kept) robbed_->fetch_add(1);
  }

  World world_{World::kMost};
  // Not reset by a burial, as the shares of the dead are.
  std::atomic<int>* robbed_ = &world_.books(0).shares[1];
};

TEST_F(HostTheftStress, ProcessesAndThreads) {
  Crowd<WorldRWLock> crowd(world_, [this](ProcessSlot process, int number, int) {
    inThreads(3, [&](int index, Dice&) {
      Dice dice(number * 8 + index);
      for (int i = 0; i < rounds(30'000); ++i) visit(process, dice);
    });
  });
  againUntil([this] { return *robbed_ > 0; }, [&] { crowd.run(4, 0); });
}

TEST_F(HostTheftStress, MoreProcessesThanTheWordHolds) {
  Crowd<WorldRWLock> crowd(world_, [this](ProcessSlot process, int number, int) {
    Dice dice(number);
    for (int i = 0; i < rounds(20'000); ++i) visit(process, dice);
  });
  againUntil([this] { return *robbed_ > 0; }, [&] { crowd.run(World::kMost, 0); });
}

TEST_F(HostTheftStress, KilledAtEveryStep) {
  // Not those of a full ownership, which are rare here: of them the locks' own tests die.
  static constexpr std::array kFatal{Step::beforeOwner, Step::afterOwner, Step::beforeNotify,
                                     Step::joined,      Step::parted,     Step::written};
  Crowd<WorldRWLock> crowd(world_, [this](ProcessSlot process, int number, int life) {
    Dice steps(number);
    const Step step = kFatal[static_cast<std::size_t>(life + process) % kFatal.size()];
    if (!world_.enough()) World::killAt(step, 1 + steps(20));
    inThreads(2, [&](int index, Dice&) {
      Dice dice(number * 8 + index);
      while (!world_.enough()) visit(process, dice);
    });
  });
  crowd.run(8, rounds(400), [&] { return world_.killedAtEach(kFatal, 3); });
  for (const Step step : kFatal) EXPECT_GT(world_.killsAt(step), 3) << static_cast<int>(step);
  books().shares[1] = 1;
}

}  // namespace
}  // namespace boxoffice::test
