// A read-write lock under processes whose threads read, write, upgrade, downgrade and time out, and which are
// killed at every step.
#include "host/host_rw_lock.h"
#include "host_crowd.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using WorldRWLock = HostRWLockForms<WorldPlatform>;

class HostRWLockStress : public testing::Test {
 protected:
  ~HostRWLockStress() override {
    world_.at<host::RWLockSlot>(0).abandoned = 0;
    EXPECT_TRUE(WorldRWLock::isUnused(&world_.at<std::byte>(0), 0))
        << std::hex << world_.owner().bits();
    EXPECT_EQ(world_.books(0).violations, 0);
    EXPECT_GT(world_.books(0).visits, 0);
  }

  static constexpr int kAnyNumber = 1000;

  void visit(WorldRWLock& lock, HostRoom& room, Dice& dice) {
    if (dice(3) == 0) {
      write(lock, room, dice);
    } else {
      read(lock, room, dice);
    }
  }

  static Deadline until(Dice& dice) {
    const int kind = dice(3);
    if (kind == 0) return kNever;
    return kind == 1 ? Deadline::min() : Clock::now() + dice.upTo(200us);
  }

  void write(WorldRWLock& lock, HostRoom& room, Dice& dice) {
    const Entry entry = lock.lockWriteUntil(until(dice));
    if (!entry) return;
    room.enter(entry.abandoned);
    dice.dwell();
    if (!world_.enough() && dice(128) == 0) World::die();
    room.leave();
    if (dice(4) != 0) return lock.unlockWrite();
    lock.downgrade();
    room.share(false, 1, kAnyNumber);
    dice.dwell();
    room.unshare(1);
    lock.unlockRead();
  }

  static void read(WorldRWLock& lock, HostRoom& room, Dice& dice) {
    const Entry entry = lock.lockReadUntil(until(dice));
    if (!entry) return;
    room.share(entry.abandoned, 1, kAnyNumber);
    dice.dwell();
    room.unshare(1);
    if (dice(4) != 0) return lock.unlockRead();
    // The books do not count an upgrader as a reader: once upgraded, it must be alone.
    const Entry up = lock.upgradeUntil(dice(2) ? Clock::now() + dice.upTo(200us) : kNever);
    if (!up) return lock.unlockRead();
    room.enter(up.abandoned);
    room.leave();
    lock.unlockWrite();
  }

  World world_{World::kMost};
};

TEST_F(HostRWLockStress, KeepsOutOtherProcessesAndThreads) {
  Crowd<WorldRWLock> crowd(world_, [this](ProcessSlot process, int number, int) {
    inThreads(3, [&](int index, Dice&) {
      Dice dice(number * 8 + index);
      HostRoom room(world_, process, number);
      for (int i = 0; i < rounds(30'000); ++i) visit(world_.at<WorldRWLock>(process), room, dice);
    });
  });
  crowd.run(4, 0);
}

TEST_F(HostRWLockStress, MoreProcessesThanTheWordHolds) {
  Crowd<WorldRWLock> crowd(world_, [this](ProcessSlot process, int number, int) {
    Dice dice(number);
    HostRoom room(world_, process, number);
    for (int i = 0; i < rounds(20'000); ++i) visit(world_.at<WorldRWLock>(process), room, dice);
  });
  crowd.run(World::kMost, 0);
}

TEST_F(HostRWLockStress, SurvivesAKillAtEveryStep) {
  static constexpr std::array kFatal{Step::beforeOwner,     Step::afterOwner,   Step::overflowAdded,
                                     Step::overflowRemoved, Step::beforeNotify, Step::joined,
                                     Step::parted,          Step::claimed,      Step::written,
                                     Step::unclaimed};
  Crowd<WorldRWLock> crowd(world_, [this](ProcessSlot process, int number, int life) {
    Dice steps(number);
    const Step step = kFatal[static_cast<std::size_t>(life + process) % kFatal.size()];
    if (!world_.enough()) World::killAt(step, 1 + steps(step == Step::overflowAdded ? 3 : 20));
    inThreads(2, [&](int index, Dice&) {
      Dice dice(number * 8 + index);
      HostRoom room(world_, process, number);
      while (!world_.enough()) visit(world_.at<WorldRWLock>(process), room, dice);
    });
  });
  crowd.run(8, rounds(400), [&] {
    return crowd.killedInside() > 2 && world_.killedAtEach(kFatal, 3) &&
           world_.killsAt(Step::cleaned) > 5;
  });
  EXPECT_GT(crowd.killedInside(), 2);
  for (const Step step : kFatal) EXPECT_GT(world_.killsAt(step), 3) << static_cast<int>(step);
  EXPECT_GT(world_.killsAt(Step::cleaned), 5);
}

TEST_F(HostRWLockStress, TellsADeathOnceThoughItsReportIsTakenWhileAReaderIsRemoved) {
  const auto of = [this](ProcessSlot process) -> WorldRWLock& {
    return world_.at<WorldRWLock>(process);
  };
  std::atomic<int> begun{0};
  std::atomic<bool> isTold{false};
  const int count = rounds(5'000);
  std::thread reader([&] {
    for (int i = 1; i <= count; ++i) {
      while (begun.load() < 2 * i - 1) WorldPlatform::relax();
      isTold = of(2).tryLockRead().abandoned;
      begun = 2 * i;
    }
  });
  int told = 0;
  for (int i = 1; i <= count; ++i) {
    of(1).lockWrite();
    of(1).abandon(WorldPlatform::agent());
    EXPECT_TRUE(of(1).lockRead().abandoned);
    of(1).abandonReads(0, true);  // and is killed before it ends the read
    begun = 2 * i - 1;
    for (int wait = i % 64; wait > 0; --wait) WorldPlatform::relax();
    world_.evict<WorldRWLock>(1);
    while (begun.load() < 2 * i) std::this_thread::yield();
    of(2).unlockRead();
    const bool isLeft = of(3).lockWrite().abandoned;
    of(3).unlockWrite();
    told += (isTold ? 1 : 0) + (isLeft ? 1 : 0);
    ++world_.books(0).visits;
  }
  reader.join();
  EXPECT_EQ(told, count);
}

}  // namespace
}  // namespace boxoffice::test
