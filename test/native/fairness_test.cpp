// Bounded overtaking: how long, and by which agents, the head of a queue may be overtaken.
#include "support.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using P = FakeClockPlatform;

class FairnessTest : public testing::Test {
 protected:
  ~FairnessTest() override { EXPECT_EQ(P::lot().queues(), 0U); }

  // Admits every remaining waiter and releases for it, so that a test may stop anywhere.
  void drain() {
    while (mutex_.isLocked()) {
      P::pass(2 * kPatience);
      mutex_.unlock(mutex_.owner());
    }
  }

  BasicMutex<P> mutex_;
  Notes loop_;
};

TEST_F(FairnessTest, TheLeaverComesBackWithinThePatienceOfTheHead) {
  mutex_.lock(kAnna);
  Waiter head(loop_, kBen);
  mutex_.enter(head);
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), Heard{invited(head)});
  EXPECT_TRUE(mutex_.tryLock(kAnna));
  EXPECT_FALSE(mutex_.resume(head, Wake::invited)) << "too late: it keeps its place";
  EXPECT_EQ(queueSizeAt<P>(&mutex_), 1U);

  P::pass(kPatience);
  mutex_.unlock(kAnna);
  EXPECT_EQ(mutex_.owner(), kBen) << "patience is over: handed over, never free";
  EXPECT_FALSE(mutex_.tryLock(kAnna));
  EXPECT_EQ(loop_.take(), Heard{admitted(head)});
  drain();
}

TEST_F(FairnessTest, PatienceLastsExactlyAsLongAsPromised) {
  mutex_.lock(kAnna);
  Waiter head(loop_, kBen);
  mutex_.enter(head);
  P::pass(kPatience - 1ns);
  mutex_.unlock(kAnna);
  EXPECT_FALSE(mutex_.isLocked());
  mutex_.lock(kAnna);
  EXPECT_FALSE(mutex_.resume(head, Wake::invited));
  mutex_.unlock(kAnna);
  EXPECT_FALSE(mutex_.isLocked());
  mutex_.lock(kAnna);
  P::pass(1ns);
  EXPECT_FALSE(mutex_.resume(head, Wake::invited));
  mutex_.unlock(kAnna);
  EXPECT_EQ(mutex_.owner(), kBen);
  drain();
}

TEST_F(FairnessTest, AHoldLongerThanThePatienceIsAlwaysFollowedByAFairHandOff) {
  Waiter w[] = {{loop_, kBen}, {loop_, kCleo}, {loop_, kAnna}, {loop_, kBen}};
  mutex_.lock(kAnna);
  for (Waiter& waiter : w) mutex_.enter(waiter);
  for (Waiter& next : w) {
    P::pass(kPatience);
    mutex_.unlock(mutex_.owner());
    EXPECT_EQ(mutex_.owner(), next.agent);
    EXPECT_EQ(loop_.take(), Heard{admitted(next)});
  }
  drain();
}

TEST_F(FairnessTest, TheLeaversOwnNextGoesFirstUntilPatienceIsOver) {
  mutex_.lock(kAnna);
  Waiter head(loop_, kBen);
  Waiter own[] = {{loop_, kAnna}, {loop_, kAnna}, {loop_, kAnna}};
  mutex_.enter(head);
  for (Waiter& w : own) {
    w.mayOvertake = false;
    mutex_.enter(w);
  }
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), Heard{admitted(own[0])});
  P::pass(500us);
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), Heard{admitted(own[1])}) << "its own going first does not renew patience";
  P::pass(500us);
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), Heard{admitted(head)});
  P::pass(kPatience);
  mutex_.unlock(kBen);
  EXPECT_EQ(loop_.take(), Heard{admitted(own[2])});
  drain();
}

TEST_F(FairnessTest, TheLeaversOwnIsLookedForNearTheHeadOnly) {
  mutex_.lock(kAnna);
  std::vector<std::unique_ptr<Waiter>> others;
  for (int i = 0; i < WaitQueue::kLook - 1; ++i) {
    others.push_back(std::make_unique<Waiter>(loop_, kBen));
    mutex_.enter(*others.back());
  }
  Waiter own[] = {{loop_, kAnna}, {loop_, kAnna}};
  for (Waiter& w : own) mutex_.enter(w);
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), Heard{admitted(own[0])}) << "the last place that is looked at";

  mutex_.leave(own[1]);
  others.push_back(std::make_unique<Waiter>(loop_, kBen));
  mutex_.enter(*others.back());
  mutex_.enter(own[1]);
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), Heard{invited(*others.front())}) << "one place too far";
  EXPECT_TRUE(mutex_.resume(*others.front(), Wake::invited));
  drain();
}

TEST_F(FairnessTest, AWaiterOfTheReleasingAgentDoesNotPassAHigherPriority) {
  mutex_.lock(kAnna);
  Asking head(loop_, kBen, 1, 1);
  Asking own(loop_, kAnna, 1, 0);
  mutex_.enter(head);
  mutex_.enter(own);
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), Heard{invited(head)});
  EXPECT_TRUE(mutex_.resume(head, Wake::invited));
  drain();
}

TEST_F(FairnessTest, AStrictWaiterIsNotOvertaken) {
  mutex_.lock(kAnna);
  Waiter strict[] = {{loop_, kBen}, {loop_, kCleo}};
  Waiter own(loop_, kAnna);
  for (Waiter& w : strict) {
    w.mayBeOvertaken = false;
    mutex_.enter(w);
  }
  mutex_.enter(own);
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), Heard{admitted(strict[0])});
  mutex_.unlock(kBen);
  EXPECT_EQ(loop_.take(), Heard{admitted(strict[1])});
  mutex_.unlock(kCleo);
  EXPECT_EQ(loop_.take(), Heard{invited(own)}) << "it has patience of its own";
  EXPECT_TRUE(mutex_.resume(own, Wake::invited));
  drain();
}

TEST_F(FairnessTest, AStrictWaiterInheritsNoPatience) {
  mutex_.lock(kAnna);
  Waiter patient(loop_, kBen);
  Waiter strict(loop_, kCleo);
  strict.mayBeOvertaken = false;
  mutex_.enter(patient);
  mutex_.enter(strict);
  mutex_.leave(patient);
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), Heard{admitted(strict)}) << "after the head before it has left";
  mutex_.resume(strict, Wake::admitted);

  Asking urgent(loop_, kAnna, 1, 1);
  urgent.mayBeOvertaken = false;
  mutex_.enter(patient);
  mutex_.enter(urgent);
  mutex_.unlock(kCleo);
  EXPECT_EQ(loop_.take(), Heard{admitted(urgent)}) << "before a head that came earlier";
  drain();
}

TEST_F(FairnessTest, PatienceStartsAgainForEveryNewHead) {
  mutex_.lock(kAnna);
  Waiter first(loop_, kBen);
  Waiter second(loop_, kCleo);
  mutex_.enter(first);
  mutex_.enter(second);
  P::pass(kPatience);
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), Heard{admitted(first)});
  mutex_.unlock(kBen);
  EXPECT_EQ(loop_.take(), Heard{invited(second)});
  EXPECT_TRUE(mutex_.tryLock(kBen));
  EXPECT_FALSE(mutex_.resume(second, Wake::invited));
  P::pass(kPatience);
  mutex_.unlock(kBen);
  EXPECT_EQ(mutex_.owner(), kCleo);
  drain();
}

TEST_F(FairnessTest, PatienceStartsAgainAlsoWhenTheHeadWonByInvitation) {
  mutex_.lock(kAnna);
  Waiter first(loop_, kBen);
  Waiter second(loop_, kCleo);
  mutex_.enter(first);
  mutex_.enter(second);
  P::pass(500us);
  mutex_.unlock(kAnna);
  EXPECT_TRUE(mutex_.resume(first, Wake::invited));
  P::pass(500us);
  loop_.take();
  mutex_.unlock(kBen);
  EXPECT_EQ(loop_.take(), Heard{invited(second)});
  EXPECT_TRUE(mutex_.resume(second, Wake::invited));
  drain();
}

TEST_F(FairnessTest, OneWaiterIsInvitedHoweverManyReleasesThereAre) {
  mutex_.lock(kAnna);
  Waiter w[] = {{loop_, kBen}, {loop_, kCleo}, {loop_, kBen}};
  for (Waiter& waiter : w) mutex_.enter(waiter);
  for (int i = 0; i < 100; ++i) {
    mutex_.unlock(kAnna);
    ASSERT_TRUE(mutex_.tryLock(kAnna));
  }
  EXPECT_EQ(loop_.take(), Heard{invited(w[0])});
  EXPECT_FALSE(mutex_.resume(w[0], Wake::invited));
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), Heard{invited(w[0])}) << "told again, now that it has come and gone";
  EXPECT_TRUE(mutex_.resume(w[0], Wake::invited));
  drain();
}

TEST_F(FairnessTest, AWaiterAdmittedWhileInvitedIsNotWokenTwice) {
  mutex_.lock(kAnna);
  Waiter head(loop_, kBen);
  mutex_.enter(head);
  mutex_.unlock(kAnna);
  mutex_.lock(kAnna);
  P::pass(kPatience);
  mutex_.unlockQueued(kAnna);
  EXPECT_EQ(mutex_.owner(), kBen);
  EXPECT_EQ(loop_.take(), Heard{invited(head)});
  EXPECT_TRUE(mutex_.resume(head, Wake::invited));
  drain();
}

TEST_F(FairnessTest, AnInvitedWaiterThatLeavesStillGetsItsWakeAndTheNextIsInvited) {
  mutex_.lock(kAnna);
  Waiter first(loop_, kBen);
  Waiter second(loop_, kCleo);
  mutex_.enter(first);
  mutex_.enter(second);
  mutex_.unlock(kAnna);
  EXPECT_EQ(mutex_.leave(first), Leave::leftAwake);
  EXPECT_EQ(loop_.take(), (Heard{invited(first), invited(second)}));
  EXPECT_TRUE(mutex_.resume(second, Wake::invited));
  drain();
}

TEST_F(FairnessTest, TheLastToWaitLeavesAFreeMutexPristine) {
  mutex_.lock(kAnna);
  Waiter head(loop_, kBen);
  mutex_.enter(head);
  mutex_.unlock(kAnna);
  EXPECT_EQ(mutex_.leave(head), Leave::leftAwake);
  EXPECT_EQ(wordOf(mutex_).load(), 0U);
}

}  // namespace
}  // namespace boxoffice::test
