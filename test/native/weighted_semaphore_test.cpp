// Weights, priorities, and setting the value.
#include <limits>

#include "support.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using P = FakeClockPlatform;
using Sema = BasicWeightedSemaphore<P>;

class WeightedSemaphoreTest : public testing::Test {
 protected:
  ~WeightedSemaphoreTest() override { EXPECT_EQ(P::lot().queues(), 0U); }

  Sema semaphore_{3};
  Notes loop_;
};

TEST_F(WeightedSemaphoreTest, TakesAndPutsBackWeights) {
  semaphore_.acquire();
  EXPECT_EQ(semaphore_.value(), 2);
  EXPECT_TRUE(semaphore_.tryAcquire(2));
  EXPECT_EQ(semaphore_.value(), 0);
  EXPECT_FALSE(semaphore_.tryAcquire());
  EXPECT_FALSE(semaphore_.acquireFor(0ns));
  EXPECT_FALSE(semaphore_.acquireFor(-1s, 2));
  semaphore_.release(2);
  EXPECT_FALSE(semaphore_.tryAcquire(3));
  EXPECT_TRUE(semaphore_.acquireFor(0ns, 2));
  semaphore_.release(10);
  EXPECT_EQ(semaphore_.value(), 10) << "more may be put in than the constructor did";
}

TEST_F(WeightedSemaphoreTest, RefusesBadValuesAndWeights) {
  EXPECT_EQ(faultOf([] { Sema bad(Sema::kMax + 1); }), Fault::badArgument);
  EXPECT_EQ(faultOf([] { Sema bad(Sema::kMin - 1); }), Fault::badArgument);
  EXPECT_EQ(Sema(Sema::kMax).value(), Sema::kMax);
  EXPECT_EQ(Sema(Sema::kMin).value(), Sema::kMin);
  for (const std::int32_t weight :
       {0, -1, std::numeric_limits<std::int32_t>::min(), Sema::kMax + 1}) {
    EXPECT_EQ(faultOf([&] { semaphore_.acquire(weight); }), Fault::badArgument);
    EXPECT_EQ(faultOf([&] { semaphore_.tryAcquire(weight); }), Fault::badArgument);
    EXPECT_EQ(faultOf([&] { semaphore_.acquireFor(0ns, weight); }), Fault::badArgument);
    EXPECT_EQ(faultOf([&] { semaphore_.release(weight); }), Fault::badArgument);
  }
  EXPECT_EQ(faultOf([&] { semaphore_.setValue(Sema::kMax + 1); }), Fault::badArgument);
  EXPECT_EQ(faultOf([&] { semaphore_.setValue(Sema::kMin - 1); }), Fault::badArgument);
  EXPECT_EQ(semaphore_.value(), 3);
}

TEST_F(WeightedSemaphoreTest, ReleaseAboveTheMaximumIsMisuseAndChangesNothing) {
  EXPECT_EQ(faultOf([&] { semaphore_.release(Sema::kMax); }), Fault::overflow);
  EXPECT_EQ(semaphore_.value(), 3);
  semaphore_.release(Sema::kMax - 3);
  EXPECT_EQ(faultOf([&] { semaphore_.release(); }), Fault::overflow);
  EXPECT_EQ(semaphore_.value(), Sema::kMax);
  semaphore_.setValue(Sema::kMin);
  semaphore_.release(Sema::kMax);
  EXPECT_EQ(semaphore_.value(), -1);
}

TEST_F(WeightedSemaphoreTest, TheHeadBlocksLighterWaitersBehindIt) {
  semaphore_.acquire(2);
  Asking heavy(loop_, kAnna, 3);
  Asking light(loop_, kBen, 1);
  EXPECT_FALSE(semaphore_.enter(heavy));
  EXPECT_FALSE(semaphore_.enter(light)) << "one is left, but the heavy one came first";
  EXPECT_FALSE(semaphore_.tryAcquire());
  semaphore_.release(1);
  EXPECT_EQ(loop_.take(), Heard{});
  semaphore_.release(1);
  EXPECT_EQ(loop_.take(), Heard{admitted(heavy)});
  semaphore_.release(3);
  EXPECT_EQ(loop_.take(), Heard{admitted(light)});
  EXPECT_EQ(semaphore_.value(), 2);
}

TEST_F(WeightedSemaphoreTest, AHeavyHeadThatLeavesAdmitsLighterWaiters) {
  semaphore_.acquire(2);
  Asking heavy(loop_, kAnna, 3);
  Asking light(loop_, kBen, 1);
  semaphore_.enter(heavy);
  semaphore_.enter(light);
  EXPECT_EQ(semaphore_.leave(heavy), Leave::left);
  EXPECT_EQ(loop_.take(), Heard{admitted(light)});
  EXPECT_EQ(semaphore_.value(), 0);
}

TEST_F(WeightedSemaphoreTest, OneReleaseAdmitsAsManyAsFitInOrder) {
  semaphore_.setValue(0);
  Asking w[] = {{loop_, kAnna, 1}, {loop_, kBen, 2}, {loop_, kCleo, 1}, {loop_, kAnna, 4}};
  for (Waiter& waiter : w) semaphore_.enter(waiter);
  P::pass(kPatience);
  semaphore_.release(5, kNoAgent);
  EXPECT_EQ(loop_.take(), (Heard{admitted(w[0]), admitted(w[1]), admitted(w[2])}));
  EXPECT_EQ(semaphore_.value(), 1);
  semaphore_.release(3, kNoAgent);
  EXPECT_EQ(loop_.take(), Heard{admitted(w[3])});
  EXPECT_EQ(wordOf(semaphore_).load(), 0U);
}

TEST_F(WeightedSemaphoreTest, ACallerThatMayNotWaitIsNeverInTheQueue) {
  semaphore_.acquire(2);
  Asking heavy(loop_, kAnna, 2);
  EXPECT_FALSE(semaphore_.enterNow(heavy));
  EXPECT_EQ(semaphore_.queueSize(), 0U);
  EXPECT_TRUE(semaphore_.tryAcquire()) << "the lock does not look taken";
  semaphore_.release();
  EXPECT_FALSE(semaphore_.enter(heavy));
  Asking same(loop_, kBen, 1, 0);
  Asking urgent(loop_, kBen, 1, 1);
  Asking urgentHeavy(loop_, kBen, 2, 1);
  EXPECT_FALSE(semaphore_.enterNow(same)) << "goes behind a waiter of its priority";
  EXPECT_FALSE(semaphore_.enterNow(urgentHeavy));
  EXPECT_TRUE(semaphore_.enterNow(urgent));
  EXPECT_EQ(semaphore_.value(), 0);
  EXPECT_EQ(semaphore_.queueSize(), 1U);
  semaphore_.release(2);
  EXPECT_EQ(loop_.take(), Heard{admitted(heavy)});
  Asking bad(loop_, kBen, 0);
  EXPECT_EQ(faultOf([&] { semaphore_.enterNow(bad); }), Fault::badArgument);
}

TEST_F(WeightedSemaphoreTest, AHigherPriorityPassesWhenItFits) {
  semaphore_.acquire(1);
  Asking heavy(loop_, kAnna, 3, 0);
  Asking same(loop_, kBen, 1, 0);
  Asking urgent(loop_, kBen, 1, 1);
  Asking urgentHeavy(loop_, kCleo, 2, 2);
  EXPECT_FALSE(semaphore_.enter(heavy));
  EXPECT_FALSE(semaphore_.enter(same));
  EXPECT_TRUE(semaphore_.enter(urgent)) << "goes in at once";
  EXPECT_FALSE(semaphore_.enter(urgentHeavy)) << "does not fit, but is the head from now on";
  semaphore_.release(2);
  EXPECT_EQ(loop_.take(), Heard{admitted(urgentHeavy)});
  EXPECT_EQ(semaphore_.leave(heavy), Leave::left);
  EXPECT_EQ(loop_.take(), Heard{admitted(same)});
  EXPECT_EQ(semaphore_.value(), 0);
}

TEST_F(WeightedSemaphoreTest, ADeadlineInThePastGrantsWhatAWaitWouldGetAtOnce) {
  semaphore_.acquire(1);
  Asking heavy(loop_, kAnna, 3, 0);
  EXPECT_FALSE(semaphore_.enter(heavy));
  EXPECT_FALSE(semaphore_.acquireUntil(P::now(), 1, 0)) << "goes behind a waiter of its priority";
  EXPECT_FALSE(semaphore_.acquireUntil(P::now(), 3, 1)) << "does not fit";
  EXPECT_EQ(semaphore_.queueSize(), 1U);
  EXPECT_TRUE(semaphore_.acquireUntil(P::now(), 1, 1));
  EXPECT_EQ(semaphore_.value(), 1);
  semaphore_.release(2);
  EXPECT_EQ(loop_.take(), Heard{admitted(heavy)});
}

TEST_F(WeightedSemaphoreTest, ThreadsWaitByPriority) {
  semaphore_.setValue(0);
  std::vector<int> order;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      EXPECT_TRUE(semaphore_.acquireUntil(kNever, 1, i % 2));
      order.push_back(i);
      semaphore_.release();
    });
    awaitQueue<P>(&semaphore_, static_cast<std::size_t>(i) + 1);
  }
  semaphore_.release();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector{1, 3, 0, 2}));
}

TEST_F(WeightedSemaphoreTest, SetValueAdmitsWaitersThatFitAndMayGoBelowZero) {
  semaphore_.setValue(-2);
  EXPECT_EQ(semaphore_.value(), -2);
  Asking w[] = {{loop_, kAnna, 1}, {loop_, kAnna, 1}};
  for (Waiter& waiter : w) EXPECT_FALSE(semaphore_.enter(waiter));
  semaphore_.release(2);
  EXPECT_EQ(loop_.take(), Heard{});
  semaphore_.setValue(1);
  EXPECT_EQ(loop_.take(), Heard{admitted(w[0])});
  semaphore_.setValue(-1);
  EXPECT_EQ(semaphore_.value(), -1);
  EXPECT_EQ(loop_.take(), Heard{});
  semaphore_.setValue(Sema::kMax);
  EXPECT_EQ(loop_.take(), Heard{admitted(w[1])});
  EXPECT_EQ(semaphore_.value(), Sema::kMax - 1);
}

TEST_F(WeightedSemaphoreTest, APriorityThatIsNoNumberIsRefused) {
  semaphore_.setValue(0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(faultOf([&] { semaphore_.acquireUntil(kNever, 1, nan); }), Fault::badArgument);
  EXPECT_EQ(wordOf(semaphore_).load(), 0U);
}

TEST_F(WeightedSemaphoreTest, TheReleasersOwnNextGoesFirstWithinThePatienceOfTheHead) {
  semaphore_.setValue(0);
  Asking head(loop_, kBen);
  Asking own(loop_, kAnna);
  Asking heavy(loop_, kCleo, 2);
  semaphore_.enter(head);
  semaphore_.enter(own);
  semaphore_.enter(heavy);
  semaphore_.release(1, kAnna);
  EXPECT_EQ(loop_.take(), Heard{admitted(own)});
  semaphore_.release(1, kCleo);
  EXPECT_EQ(loop_.take(), Heard{admitted(head)}) << "the releaser's own does not fit";
  EXPECT_EQ(semaphore_.leave(heavy), Leave::left);
}

TEST_F(WeightedSemaphoreTest, TheReleasersOwnWaitsWhenThePatienceOfTheHeadIsOver) {
  semaphore_.setValue(0);
  Asking head(loop_, kBen);
  Asking own(loop_, kAnna);
  semaphore_.enter(head);
  semaphore_.enter(own);
  P::pass(kPatience);
  semaphore_.release(1, kAnna);
  EXPECT_EQ(loop_.take(), Heard{admitted(head)});
  EXPECT_EQ(semaphore_.leave(own), Leave::left);
}

TEST_F(WeightedSemaphoreTest, LeavingTooLateMeansTheWeightIsOurs) {
  semaphore_.setValue(0);
  Asking w(loop_, kAnna, 2);
  semaphore_.enter(w);
  semaphore_.release(2);
  EXPECT_EQ(semaphore_.leave(w), Leave::admitted);
  EXPECT_TRUE(semaphore_.resume(w, Wake::admitted));
  EXPECT_EQ(faultOf([&] { semaphore_.leave(w); }), Fault::notWaiting);
  EXPECT_EQ(semaphore_.value(), 0);
}

}  // namespace
}  // namespace boxoffice::test
