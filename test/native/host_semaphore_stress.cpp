// A semaphore under processes whose threads take different weights and time out, and which are killed at every step.
#include "host/host_semaphore.h"
#include "host_crowd.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using WorldSemaphore = HostSemaphoreForms<WorldPlatform>;

class HostSemaphoreStress : public testing::Test {
 protected:
  static constexpr int kStart = 5;

  HostSemaphoreStress() { WorldSemaphore::reset(&world_.at<std::byte>(0), kStart); }
  ~HostSemaphoreStress() override {
    world_.at<host::SemaphoreSlot>(0).abandoned = 0;
    EXPECT_TRUE(WorldSemaphore::isUnused(&world_.at<std::byte>(0), kStart))
        << std::hex << world_.owner().bits() << " value " << world_.at<WorldSemaphore>(0).value();
    EXPECT_EQ(world_.books(0).violations, 0);
    EXPECT_GT(world_.books(0).visits, 0);
  }

  void visit(ProcessSlot process, HostRoom& room, Dice& dice) {
    auto& semaphore = world_.at<WorldSemaphore>(process);
    const int weight = 1 + dice(kStart);
    const int kind = dice(3);
    Entry entry;
    if (kind == 0) entry = semaphore.acquire(weight);
    if (kind == 1) entry = semaphore.tryAcquire(weight);
    if (kind == 2) entry = semaphore.acquireFor(dice.upTo(200us), weight, dice(2));
    if (!entry) return;
    room.share(entry.abandoned, weight, kStart);
    dice.dwell();
    if (!world_.enough() && dice(128) == 0) World::die();
    room.unshare(weight);
    semaphore.release(weight);
  }

  World world_{World::kMost};
};

TEST_F(HostSemaphoreStress, KeepsOutOtherProcessesAndThreads) {
  Crowd<WorldSemaphore> crowd(world_, [this](ProcessSlot process, int number, int) {
    inThreads(3, [&](int index, Dice&) {
      Dice dice(number * 8 + index);
      HostRoom room(world_, process, number);
      for (int i = 0; i < rounds(20'000); ++i) visit(process, room, dice);
    });
  });
  crowd.run(4, 0);
}

TEST_F(HostSemaphoreStress, MoreProcessesThanTheWordHolds) {
  Crowd<WorldSemaphore> crowd(world_, [this](ProcessSlot process, int number, int) {
    Dice dice(number);
    HostRoom room(world_, process, number);
    for (int i = 0; i < rounds(15'000); ++i) visit(process, room, dice);
  });
  crowd.run(World::kMost, 0);
}

TEST_F(HostSemaphoreStress, SurvivesAKillAtEveryStep) {
  static constexpr std::array kFatal{Step::beforeOwner,     Step::afterOwner,   Step::overflowAdded,
                                     Step::overflowRemoved, Step::beforeNotify, Step::joined,
                                     Step::parted};
  Crowd<WorldSemaphore> crowd(world_, [this](ProcessSlot process, int number, int life) {
    Dice steps(number);
    const Step step = kFatal[static_cast<std::size_t>(life + process) % kFatal.size()];
    if (!world_.enough()) World::killAt(step, 1 + steps(step == Step::overflowAdded ? 3 : 20));
    inThreads(2, [&](int index, Dice&) {
      Dice dice(number * 8 + index);
      HostRoom room(world_, process, number);
      while (!world_.enough()) visit(process, room, dice);
    });
  });
  crowd.run(8, rounds(400), [&] {
    return world_.killedAtEach(kFatal, 3) && world_.killsAt(Step::cleaned) > 5 &&
           world_.books(0).told > 0;
  });
  for (const Step step : kFatal) EXPECT_GT(world_.killsAt(step), 3) << static_cast<int>(step);
  EXPECT_GT(world_.killsAt(Step::cleaned), 5);
  EXPECT_GT(world_.books(0).told, 0);
}

}  // namespace
}  // namespace boxoffice::test
