// Learning whether looking again pays.
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

TEST(SpinBudgetTest, SettlesAtAboutTwiceWhatWasNeeded) {
  SpinBudget<Platform, kMost> budget;
  for (int i = 0; i < 100; ++i) budget.paid(10);
  EXPECT_GE(budget.take(), 15);
  EXPECT_LE(budget.take(), 30);
  for (int i = 0; i < 100; ++i) budget.paid(kMost);
  EXPECT_EQ(budget.take(), kMost) << "and never above its maximum";
}

/// A platform that counts what spinning does, on as many cores as a test likes.
template <int kCores>
struct CountingPlatform : NativePlatform<CountingPlatform<kCores>> {
  static constexpr int kBusyLooks = 20;
  static constexpr int kYieldLooks = 5;
  static inline int relaxed = 0;
  static inline int yielded = 0;

  static int cores() noexcept { return kCores; }
  static void relax() noexcept { ++relaxed; }
  static void yield() noexcept { ++yielded; }
  static void forget() { relaxed = yielded = 0; }
};

TEST(AdaptiveSpinTest, LooksBusilyAndThenYielding) {
  using P = CountingPlatform<2>;
  P::forget();
  AdaptiveSpin<P> spin;
  EXPECT_FALSE(spin([] { return false; }));
  EXPECT_EQ(P::relaxed, P::kBusyLooks);
  EXPECT_EQ(P::yielded, P::kYieldLooks);
}

TEST(AdaptiveSpinTest, StopsAtTheFirstYes) {
  using P = CountingPlatform<2>;
  P::forget();
  AdaptiveSpin<P> spin;
  int looks = 0;
  EXPECT_TRUE(spin([&] { return ++looks == 3; }));
  EXPECT_EQ(P::relaxed, 3);
  EXPECT_EQ(P::yielded, 0);
}

TEST(AdaptiveSpinTest, LearnsToSleepAtOnceAndTriesAgainNowAndThen) {
  using P = CountingPlatform<2>;
  AdaptiveSpin<P> spin;
  const auto looksOfTen = [&] {
    P::forget();
    for (int i = 0; i < 10; ++i) spin([] { return false; });
    return P::relaxed + P::yielded;
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
  EXPECT_GE(most, P::kBusyLooks);
}

TEST(AdaptiveSpinTest, NeverWaitsBusilyOnOneCore) {
  using P = CountingPlatform<1>;
  P::forget();
  AdaptiveSpin<P> spin;
  for (int i = 0; i < 1'000; ++i) spin([] { return false; });
  EXPECT_EQ(P::relaxed, 0);
  EXPECT_GT(P::yielded, 0);
}

TEST(AdaptiveSpinTest, LeavesOneCoreToThoseWhoWork) {
  using P = CountingPlatform<2>;
  P::forget();
  AdaptiveSpin<P> outer;
  AdaptiveSpin<P> inner;
  int insideBusy = 0;
  outer([&] {
    const int before = P::relaxed;
    inner([] { return false; });
    insideBusy += P::relaxed - before;
    return true;
  });
  EXPECT_EQ(insideBusy, 0) << "one of two cores was kept busy already";
  EXPECT_EQ(P::busyWaiters().load(), 0);
  EXPECT_FALSE(inner([] { return false; }));
  EXPECT_GT(P::relaxed, 1);
}

TEST(AdaptiveSpinTest, WithoutLooksItDoesNotLook) {
  AdaptiveSpin<NoSpinPlatform> spin;
  EXPECT_FALSE(spin([] { return true; }));
}

}  // namespace
}  // namespace boxoffice::test
