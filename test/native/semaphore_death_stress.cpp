// Holders of a WeightedSemaphore that die: their units come back exactly once.
#include "stress.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

template <class P>
class SemaphoreDeathStress : public testing::Test {
 protected:
  ~SemaphoreDeathStress() override { expectNoWaiters<P>(); }
};

using Platforms = testing::Types<Platform, NoSpinPlatform>;
TYPED_TEST_SUITE(SemaphoreDeathStress, Platforms);

TYPED_TEST(SemaphoreDeathStress, OfOneUnitIsAMutexWhoseNextHolderIsTold) {
  BasicWeightedSemaphore<TypeParam> semaphore(1);
  Room room;
  Tally tally;
  std::atomic<long> deaths{0};
  const auto met = [&] { return deaths > 0 && tally.refused > 0; };
  inThreadsUntil(met, kThreads, [&](int, Dice& dice) {
    for (int i = 0; i < rounds(20'000); ++i) {
      const Entry in = dice(4) == 0 ? semaphore.tryAcquire()
                                    : semaphore.acquireFor(dice(4) ? 1h : dice.upTo(50us));
      if (!tally.tried(in.granted)) continue;
      room.enter(in.abandoned);
      dice.dwell();
      if (dice(8) == 0) {
        room.die();
        semaphore.reclaim(1, 1);
        ++deaths;
      } else {
        room.leave();
        semaphore.release();
      }
    }
  });
  EXPECT_EQ(room.visits(), tally.in);
  EXPECT_GT(deaths, 0);
  EXPECT_GT(tally.refused, 0);
  EXPECT_EQ(wordOf(semaphore).load(), room.died() ? 4U | 2U : 4U);
}

TYPED_TEST(SemaphoreDeathStress, AdmitsNoMoreThanItsUnitsAndLosesNone) {
  constexpr std::int32_t kAll = 5;
  BasicWeightedSemaphore<TypeParam> semaphore(kAll);
  std::atomic<std::int32_t> inside{0};
  std::atomic<long> deaths{0};
  std::atomic<long> told{0};
  Violations violations;
  inThreads(kThreads, [&](int, Dice& dice) {
    for (int i = 0; i < rounds(20'000); ++i) {
      const std::int32_t weight = 1 + dice(kAll);
      const Entry in = semaphore.acquireFor(dice(4) ? 1h : dice.upTo(50us), weight, dice(3));
      if (!in.granted) {
        violations.unless(!in.abandoned);
        continue;
      }
      if (in.abandoned) {
        // No more holders are told than have died by now.
        const long told1 = ++told;
        violations.unless(told1 <= deaths);
      }
      violations.unless((inside += weight) <= kAll);
      dice.dwell();
      inside -= weight;
      if (dice(8) == 0) {
        ++deaths;
        semaphore.reclaim(weight, kAll);
      } else {
        semaphore.release(weight);
      }
    }
  });
  EXPECT_EQ(semaphore.value(), kAll);
  EXPECT_GT(told, 0);
  EXPECT_LE(told, deaths);
}

}  // namespace
}  // namespace boxoffice::test
