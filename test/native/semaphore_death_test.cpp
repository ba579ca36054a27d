// The death of a WeightedSemaphore's holder: its units come back, and the next holder is told.
#include "support.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using P = FakeClockPlatform;
using Sema = BasicWeightedSemaphore<P>;

class SemaphoreDeathTest : public testing::Test {
 protected:
  ~SemaphoreDeathTest() override { EXPECT_EQ(P::lot().queues(), 0U); }

  /// Acquires and releases a unit. Returns whether the acquire reported a death.
  bool isTold() {
    const Entry in = semaphore_.tryAcquire();
    EXPECT_TRUE(in.granted);
    semaphore_.release();
    return in.abandoned;
  }

  Sema semaphore_{3};
  Notes loop_;
};

TEST_F(SemaphoreDeathTest, TheNextIsToldAndOnlyTheNext) {
  EXPECT_FALSE(semaphore_.acquire(2).abandoned);
  semaphore_.reclaim(2, 3);
  EXPECT_EQ(semaphore_.value(), 3);
  const Entry next = semaphore_.acquire();
  EXPECT_TRUE(next.granted);
  EXPECT_TRUE(next.abandoned);
  EXPECT_FALSE(semaphore_.acquire().abandoned);
  semaphore_.release(2);
  EXPECT_EQ(wordOf(semaphore_).load(), 3U << 2) << "as it began";
}

TEST_F(SemaphoreDeathTest, EachFormOfAcquireIsToldOfADeath) {
  const auto die = [&] {
    semaphore_.acquire(3);
    semaphore_.reclaim(3, 3);
  };
  die();
  EXPECT_TRUE(semaphore_.tryAcquire(3).abandoned);
  semaphore_.release(3);
  die();
  EXPECT_TRUE(semaphore_.acquireFor(0ns, 3).abandoned);
  semaphore_.release(3);
  die();
  Asking w(loop_, kAnna);
  EXPECT_TRUE(semaphore_.enter(w));
  EXPECT_TRUE(w.abandoned);
  semaphore_.release();
  die();
  Waiter blocking;
  EXPECT_TRUE(semaphore_.enterBlocking(blocking, kNever));
  EXPECT_TRUE(blocking.abandoned);
  semaphore_.release();
  EXPECT_FALSE(isTold());
}

TEST_F(SemaphoreDeathTest, SeveralDeathsAreToldOnce) {
  semaphore_.acquire(3);
  semaphore_.reclaim(1, 3);
  semaphore_.reclaim(2, 3);
  EXPECT_TRUE(isTold());
  EXPECT_FALSE(isTold());
}

TEST_F(SemaphoreDeathTest, UnitsThatOthersPutBackAreNotPutBackAgain) {
  semaphore_.acquire(2);
  semaphore_.release(2);  // by another agent
  semaphore_.reclaim(2, 3);
  EXPECT_EQ(semaphore_.value(), 3);
  EXPECT_FALSE(isTold()) << "there was nothing to reclaim";

  semaphore_.acquire(3);
  semaphore_.release(2);
  semaphore_.reclaim(3, 3);
  EXPECT_EQ(semaphore_.value(), 3) << "a part of it";
  EXPECT_TRUE(isTold());
}

TEST_F(SemaphoreDeathTest, AValueAboveTheMostStays) {
  semaphore_.setValue(10);
  semaphore_.reclaim(2, 3);
  EXPECT_EQ(semaphore_.value(), 10);
  EXPECT_FALSE(isTold());
}

TEST_F(SemaphoreDeathTest, NothingHeldIsNothingToReclaim) {
  semaphore_.acquire();
  semaphore_.reclaim(0, 3);
  EXPECT_EQ(semaphore_.value(), 2);
  EXPECT_FALSE(isTold());
  semaphore_.release();
}

TEST_F(SemaphoreDeathTest, BelowZeroADeathPutsBackTheMissingUnits) {
  semaphore_.setValue(-5);
  semaphore_.reclaim(2, 3);
  EXPECT_EQ(semaphore_.value(), -3);
  EXPECT_FALSE(semaphore_.tryAcquire()) << "no caller is admitted, and none is told";
  semaphore_.reclaim(Sema::kMax, -1);
  EXPECT_EQ(semaphore_.value(), -1) << "the most may be below zero, too";
  semaphore_.setValue(1);
  EXPECT_TRUE(isTold()) << "and a value that is set does not tell";
}

TEST_F(SemaphoreDeathTest, DoesNotOverflow) {
  semaphore_.setValue(Sema::kMax - 1);
  semaphore_.reclaim(Sema::kMax, Sema::kMax);
  EXPECT_EQ(semaphore_.value(), Sema::kMax);
  EXPECT_TRUE(isTold());
  semaphore_.reclaim(Sema::kMax, Sema::kMax);
  EXPECT_EQ(semaphore_.value(), Sema::kMax);
  EXPECT_FALSE(isTold());
  semaphore_.setValue(Sema::kMin);
  semaphore_.reclaim(Sema::kMax, Sema::kMax);
  EXPECT_EQ(semaphore_.value(), -1);
  semaphore_.setValue(Sema::kMin);
  semaphore_.reclaim(1, Sema::kMin);
  EXPECT_EQ(semaphore_.value(), Sema::kMin);
  semaphore_.setValue(1);
  EXPECT_TRUE(isTold());
}

TEST_F(SemaphoreDeathTest, QueuedWaitersAreAdmittedAndTheFirstIsTold) {
  semaphore_.acquire(3);
  Asking w[] = {{loop_, kAnna, 1}, {loop_, kBen, 2}, {loop_, kCleo, 1}};
  for (Waiter& waiter : w) EXPECT_FALSE(semaphore_.enter(waiter));
  semaphore_.reclaim(3, 3);
  EXPECT_EQ(loop_.take(), (Heard{admitted(w[0]), admitted(w[1])}));
  EXPECT_TRUE(w[0].abandoned);
  EXPECT_FALSE(w[1].abandoned);
  semaphore_.release();
  EXPECT_EQ(loop_.take(), Heard{admitted(w[2])});
  EXPECT_FALSE(w[2].abandoned);
  EXPECT_EQ(wordOf(semaphore_).load(), 0U);
}

TEST_F(SemaphoreDeathTest, AWaiterThatReleasesAtOnceIsNotTold) {
  semaphore_.acquire(3);
  Asking w[] = {{loop_, kAnna, 1}, {loop_, kBen, 2}, {loop_, kCleo, 3}};
  w[0].isPassing = w[1].isPassing = true;
  for (Waiter& waiter : w) EXPECT_FALSE(semaphore_.enter(waiter));
  semaphore_.reclaim(3, 3);
  EXPECT_EQ(loop_.take(), (Heard{admitted(w[0]), admitted(w[1])}));
  EXPECT_FALSE(w[0].abandoned || w[1].abandoned);
  semaphore_.release(3);
  EXPECT_EQ(loop_.take(), Heard{admitted(w[2])});
  EXPECT_TRUE(w[2].abandoned);
  EXPECT_EQ(wordOf(semaphore_).load(), 0U);
}

TEST_F(SemaphoreDeathTest, AHeadThatDoesNotFitYetIsToldWhenItDoes) {
  semaphore_.acquire(3);
  Asking heavy(loop_, kAnna, 3);
  EXPECT_FALSE(semaphore_.enter(heavy));
  semaphore_.reclaim(2, 3);
  EXPECT_EQ(loop_.take(), Heard{});
  EXPECT_EQ(semaphore_.value(), 2);
  EXPECT_FALSE(semaphore_.tryAcquire()) << "not before the head";
  semaphore_.release();
  EXPECT_EQ(loop_.take(), Heard{admitted(heavy)});
  EXPECT_TRUE(heavy.abandoned);
  EXPECT_EQ(wordOf(semaphore_).load(), 0U);
}

TEST_F(SemaphoreDeathTest, AWaiterThatLeavesTheQueueWasNotTold) {
  semaphore_.acquire(3);
  Asking heavy(loop_, kAnna, 3);
  Asking light(loop_, kBen, 1);
  semaphore_.enter(heavy);
  semaphore_.enter(light);
  semaphore_.reclaim(2, 3);
  EXPECT_EQ(semaphore_.leave(heavy), Leave::left);
  EXPECT_EQ(loop_.take(), Heard{admitted(light)});
  EXPECT_TRUE(light.abandoned);
  EXPECT_EQ(wordOf(semaphore_).load(), 1U << 2);
}

TEST_F(SemaphoreDeathTest, AnEntryThatIsNotGrantedIsToldNothing) {
  semaphore_.acquire(3);
  semaphore_.reclaim(1, 3);
  const Entry refused = semaphore_.tryAcquire(2);
  EXPECT_FALSE(refused.granted);
  EXPECT_FALSE(refused.abandoned);
  const Entry late = semaphore_.acquireFor(1ms, 2);
  EXPECT_FALSE(late.granted);
  EXPECT_FALSE(late.abandoned);
  EXPECT_TRUE(isTold());
}

TEST_F(SemaphoreDeathTest, AThreadThatSleepsIsTold) {
  semaphore_.acquire(3);
  std::thread thread([&] {
    const Entry in = semaphore_.acquire(2);
    EXPECT_TRUE(in.granted && in.abandoned);
    semaphore_.release(2);
  });
  awaitQueue<P>(&semaphore_, 1);
  semaphore_.reclaim(3, 3);
  thread.join();
  EXPECT_EQ(semaphore_.value(), 3);
  EXPECT_FALSE(isTold());
}

}  // namespace
}  // namespace boxoffice::test
