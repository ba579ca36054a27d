// A mutex under processes whose threads lock it as JavaScript and C++ do, time out and cancel, and which are
// killed at every step.
#include "host_crowd.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

class HostMutexStress : public testing::Test {
 protected:
  ~HostMutexStress() override {
    for (std::size_t slot = 0; slot < kUsed; ++slot) {
      EXPECT_EQ(world_.owner(slot).with(OwnerWord::kAbandoned, false).bits(), 0U)
          << "slot " << slot;
      EXPECT_TRUE(world_.at<host::SlotHead>(0, slot).overflow.empty());
      EXPECT_EQ(world_.books(0, slot).violations, 0);
      EXPECT_GT(world_.books(0, slot).visits, 0);
    }
  }

  static constexpr std::size_t kUsed = 2;

  /// One thread's visits, by every way to acquire the mutex.
  void visits(ProcessSlot process, int number, int count, Dice& dice) {
    for (int i = 0; i < count; ++i) {
      const auto slot = static_cast<std::size_t>(dice(8) == 0);
      auto& mutex = world_.at<WorldMutex>(process, slot);
      HostRoom room(world_, process, number, slot);
      const Entry entry = goIn(process, mutex, dice);
      if (!entry) continue;
      room.enter(entry.abandoned);
      dice.dwell();
      if (!world_.enough() && dice(128) == 0) World::die();
      room.leave();
      if (!scriptChanges(mutex, heldBy(process), 0)) mutex.unlock();
    }
  }

  Entry goIn(ProcessSlot process, WorldMutex& mutex, Dice& dice) {
    switch (dice(6)) {
      case 0:
        return {.granted = scriptChanges(mutex, 0, heldBy(process))};
      case 1:
        return {.granted =
                    scriptChanges(mutex, OwnerWord::kQueued, heldBy(process) | OwnerWord::kQueued)};
      case 2:
        return mutex.tryLock();
      case 3:
        return mutex.lock();
      default:
        return mutex.lockFor(dice.upTo(100us));
    }
  }

  static std::uint32_t heldBy(ProcessSlot process) {
    return static_cast<std::uint32_t>(OwnerWord::held(process, thisThread()).bits());
  }
  /// One step of JavaScript, which sees only the low half of the word.
  static bool scriptChanges(WorldMutex& mutex, std::uint32_t from, std::uint64_t to) {
    return wordOf(mutex).compare_exchange_strong(from, static_cast<std::uint32_t>(to));
  }

  /// An event loop with many pending waits.
  void turns(ProcessSlot process, int number, int count) {
    auto& mutex = world_.at<WorldMutex>(process);
    HostRoom room(world_, process, number);
    LoopTally tally;
    const Visit<WorldMutex> visit{mutex,
                                  [](Waiter& w, Dice& dice) {
                                    w.priority = dice(8) == 0 ? 1 : 0;
                                    w.mayBeOvertaken = dice(64) != 0;
                                  },
                                  [&room](Waiter& w) { room.enter(w.abandoned); },
                                  [&](Waiter& w) {
                                    room.leave();
                                    mutex.unlock(w.agent);
                                  }};
    EventLoop<WorldMutex>(visit, tally, number).run(count);
  }

  World world_{World::kMost};
};

TEST_F(HostMutexStress, ProcessesWithThreadsAndEventLoops) {
  Crowd<WorldMutex> crowd(world_, [this](ProcessSlot process, int number, int) {
    inThreads(3, [&](int index, Dice&) {
      Dice dice(number * 8 + index);
      if (index == 0) {
        turns(process, number, rounds(100'000));
      } else {
        visits(process, number, rounds(50'000), dice);
      }
    });
  });
  crowd.run(4, 0);
}

TEST_F(HostMutexStress, MoreProcessesThanTheWordHolds) {
  Crowd<WorldMutex> crowd(world_, [this](ProcessSlot process, int number, int) {
    inThreads(2, [&](int index, Dice&) {
      Dice dice(number * 8 + index);
      visits(process, number, rounds(10'000), dice);
    });
  });
  crowd.run(World::kMost, 0);
}

// Holds are about as long as the timeouts, so that timeouts race hand-offs.
TEST_F(HostMutexStress, TimeoutsThatRaceHandOffs) {
  Crowd<WorldMutex> crowd(world_, [this](ProcessSlot process, int number, int) {
    Dice dice(number);
    for (int i = 0; i < rounds(5'000); ++i) {
      const auto slot = static_cast<std::size_t>(i % 2);
      auto& mutex = world_.at<WorldMutex>(process, slot);
      if (!mutex.lockFor(dice.upTo(200us))) continue;
      HostRoom room(world_, process, number, slot);
      room.enter(false);
      const Deadline end = Clock::now() + dice.upTo(60us);
      while (Clock::now() < end) Platform::relax();
      room.leave();
      mutex.unlock();
    }
  });
  crowd.run(7, 0);
}

TEST_F(HostMutexStress, SurvivesAKillAtEveryStep) {
  static constexpr std::array kFatal{Step::beforeOwner, Step::afterOwner, Step::overflowAdded,
                                     Step::overflowRemoved, Step::beforeNotify};
  Crowd<WorldMutex> crowd(world_, [this](ProcessSlot process, int number, int life) {
    Dice dice(number);
    const Step step = kFatal[static_cast<std::size_t>(life + process) % kFatal.size()];
    const bool isRare = step == Step::overflowAdded || step == Step::overflowRemoved;
    if (!world_.enough()) World::killAt(step, 1 + dice(isRare ? 4 : 100));
    inThreads(2, [&](int index, Dice&) {
      Dice own(number * 8 + index);
      while (!world_.enough()) {
        if (index == 0 && number % 2 == 0) {
          turns(process, number, 500);
        } else {
          visits(process, number, 200, own);
        }
      }
    });
  });
  crowd.run(8, rounds(400), [&] {
    return crowd.killedInside() > 2 && world_.killedAtEach(kFatal, 5) &&
           world_.killsAt(Step::cleaned) > 5;
  });
  EXPECT_GT(crowd.killedInside(), 2);
  EXPECT_GE(crowd.killed(), rounds(400));
  for (const Step step : kFatal) EXPECT_GT(world_.killsAt(step), 5) << static_cast<int>(step);
  EXPECT_GT(world_.killsAt(Step::cleaned), 5);
  EXPECT_LE(world_.books(0).told, crowd.killed());
}

}  // namespace
}  // namespace boxoffice::test
