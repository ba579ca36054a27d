// The adaptive spin budgets.
#include "support.h"

namespace boxoffice::test {
namespace {

constexpr int kMost = 100;

TEST(SpinBudgetTest, StartsFullAndFallsToNothingWhenItNeverPays) {
  SpinBudget<Platform, kMost> budget;
  int before = budget.take();
  EXPECT_EQ(before, kMost);
  while (before > 0) {
    budget.wasted();
    ASSERT_LT(budget.take(), before);
    before = budget.take();
  }
  EXPECT_EQ(budget.take(), 0);
}

TEST(SpinBudgetTest, ThereIsAFreshTryNowAndThen) {
  SpinBudget<Platform, kMost> budget;
  while (budget.take() > 0) budget.wasted();
  int without = 0;
  for (; budget.take() == 0; ++without) {
    ASSERT_LT(without, 1'000);
    budget.wasted();
  }
  EXPECT_GT(without, 10) << "a fresh try is the exception";
  EXPECT_EQ(budget.take(), kMost);
}

TEST(SpinBudgetTest, SettlesAtAboutTwiceTheNeededLooks) {
  SpinBudget<Platform, kMost> budget;
  for (int i = 0; i < 100; ++i) budget.paid(10);
  EXPECT_GE(budget.take(), 15);
  EXPECT_LE(budget.take(), 30);
  for (int i = 0; i < 100; ++i) budget.paid(kMost);
  EXPECT_EQ(budget.take(), kMost) << "and never above its maximum";
}

/// A platform with kCores cores that counts the calls of spinning. Its clock stands still, so yielding never
/// takes longer than a sleep.
template <int kCores>
struct CountingPlatform : NativePlatform<CountingPlatform<kCores>> {
  static constexpr int kBusyLooks = 20;
  static constexpr int kYieldLooks = 5;
  static inline int relaxed = 0;
  static inline int yielded = 0;

  static Deadline now() noexcept { return {}; }
  static int cores() noexcept { return kCores; }
  static void relax() noexcept { ++relaxed; }
  static void yield() noexcept { ++yielded; }
  static void forget() { relaxed = yielded = 0; }
};

TEST(AdaptiveSpinTest, LooksBusilyAndThenYielding) {
  using Counting = CountingPlatform<2>;
  Counting::forget();
  AdaptiveSpin<Counting> spin;
  EXPECT_FALSE(spin([] { return false; }));
  EXPECT_EQ(Counting::relaxed, Counting::kBusyLooks);
  EXPECT_EQ(Counting::yielded, Counting::kYieldLooks);
}

TEST(AdaptiveSpinTest, StopsAtTheFirstYes) {
  using Counting = CountingPlatform<2>;
  Counting::forget();
  AdaptiveSpin<Counting> spin;
  int looks = 0;
  EXPECT_TRUE(spin([&] { return ++looks == 3; }));
  EXPECT_EQ(Counting::relaxed, 3);
  EXPECT_EQ(Counting::yielded, 0);
}

TEST(AdaptiveSpinTest, LearnsToSleepAtOnceAndTriesAgainNowAndThen) {
  using Counting = CountingPlatform<2>;
  AdaptiveSpin<Counting> spin;
  const auto looksOfTen = [&] {
    Counting::forget();
    for (int i = 0; i < 10; ++i) spin([] { return false; });
    return Counting::relaxed + Counting::yielded;
  };
  const int naive = looksOfTen();
  for (int i = 0; i < 10; ++i) looksOfTen();
  int least = naive;
  int most = 0;
  for (int i = 0; i < 20; ++i) {
    const int looks = looksOfTen();
    least = std::min(least, looks);
    most = std::max(most, looks);
  }
  EXPECT_EQ(least, 0);
  EXPECT_GE(most, Counting::kBusyLooks);
}

TEST(AdaptiveSpinTest, NeverWaitsBusilyOnOneCore) {
  using Counting = CountingPlatform<1>;
  Counting::forget();
  AdaptiveSpin<Counting> spin;
  for (int i = 0; i < 1'000; ++i) spin([] { return false; });
  EXPECT_EQ(Counting::relaxed, 0);
  EXPECT_GT(Counting::yielded, 0);
}

TEST(AdaptiveSpinTest, LeavesOneCoreToWorkingThreads) {
  using Counting = CountingPlatform<2>;
  Counting::forget();
  AdaptiveSpin<Counting> outer;
  AdaptiveSpin<Counting> inner;
  int insideBusy = 0;
  outer([&] {
    const int before = Counting::relaxed;
    inner([] { return false; });
    insideBusy += Counting::relaxed - before;
    return true;
  });
  EXPECT_EQ(insideBusy, 0) << "one of two cores was kept busy already";
  EXPECT_EQ(Counting::busyWaiters().load(), 0);
  EXPECT_FALSE(inner([] { return false; }));
  EXPECT_GT(Counting::relaxed, 1);
}

TEST(AdaptiveSpinTest, DoesNotSpinWithoutLooks) {
  AdaptiveSpin<NoSpinPlatform> spin;
  EXPECT_FALSE(spin([] { return true; }));
}

}  // namespace
}  // namespace boxoffice::test
