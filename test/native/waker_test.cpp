// The designated waker and the hand-off that it requests, by their bits in the word (lock_word.h).
#include "support.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using P = FakeClockPlatform;

class WakerTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kQueued = 1;
  static constexpr std::uint32_t kWaker = MutexRules::kWaker;
  static constexpr std::uint32_t kHandOff = MutexRules::kHandOff;
  static std::uint32_t heldBy(AgentId agent) { return MutexRules::held(agent); }

  WakerTest() { mutex_.lock(kAnna); }
  ~WakerTest() override {
    EXPECT_EQ(word(), 0U);
    EXPECT_EQ(P::lot().queues(), 0U);
  }

  std::uint32_t word() { return wordOf(mutex_).load(); }

  /// Invites the head, and locks for Anna again before the head competes.
  void inviteInVain() {
    mutex_.unlock(kAnna);
    EXPECT_EQ(word(), kQueued | kWaker);
    EXPECT_TRUE(mutex_.tryLock(kAnna));
  }

  BasicMutex<P> mutex_;
  Notes loop_;
};

TEST_F(WakerTest, IsSetWhileTheInvitedWaiterIsOnItsWay) {
  Waiter w(loop_, kBen);
  mutex_.enter(w);
  EXPECT_EQ(word(), heldBy(kAnna) | kQueued);
  inviteInVain();
  EXPECT_EQ(word(), heldBy(kAnna) | kQueued | kWaker);
  EXPECT_FALSE(mutex_.resume(w, Wake::invited));
  EXPECT_EQ(word(), heldBy(kAnna) | kQueued) << "it sleeps again: the next release calls it";
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), (Heard{invited(w), invited(w)}));
  EXPECT_TRUE(mutex_.resume(w, Wake::invited));
  EXPECT_EQ(word(), heldBy(kBen));
  mutex_.unlock(kBen);
}

TEST_F(WakerTest, ReleasesMeanwhileLeaveTheWordFreeHoweverLongItTakes) {
  Waiter w(loop_, kBen);
  mutex_.enter(w);
  for (int i = 0; i < 100; ++i) {
    inviteInVain();
    P::pass(kPatience);
  }
  EXPECT_EQ(loop_.take(), Heard{invited(w)}) << "one wake-up for all of them";
  mutex_.unlock(kAnna);
  EXPECT_TRUE(mutex_.resume(w, Wake::invited));
  mutex_.unlock(kBen);
}

TEST_F(WakerTest, ReleasesMeanwhileNeedNoBucket) {
  Waiter w(loop_, kBen);
  mutex_.enter(w);
  inviteInVain();
  {
    const auto bucket = P::lot().open(&mutex_);
    mutex_.unlock(kAnna);  // must not need the bucket, which this thread holds
    EXPECT_EQ(word(), kQueued | kWaker);
  }
  EXPECT_TRUE(mutex_.resume(w, Wake::invited));
  mutex_.unlock(kBen);
}

TEST_F(WakerTest, AHeadThatComesInVainWhenItsPatienceIsOverIsNext) {
  Waiter w(loop_, kBen);
  mutex_.enter(w);
  inviteInVain();
  P::pass(kPatience);
  EXPECT_FALSE(mutex_.resume(w, Wake::invited));
  EXPECT_EQ(word(), heldBy(kAnna) | kQueued | kHandOff);
  loop_.take();
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), Heard{admitted(w)});
  EXPECT_EQ(word(), heldBy(kBen));
  mutex_.unlock(kBen);
}

TEST_F(WakerTest, TheHandOffIsForOneHead) {
  Waiter first(loop_, kBen);
  Waiter second(loop_, kCleo);
  mutex_.enter(first);
  mutex_.enter(second);
  inviteInVain();
  P::pass(kPatience);
  mutex_.resume(first, Wake::invited);
  EXPECT_EQ(word(), heldBy(kAnna) | kQueued | kHandOff);
  mutex_.unlock(kAnna);
  EXPECT_EQ(word(), heldBy(kBen) | kQueued) << "the next head has patience of its own";
  loop_.take();
  mutex_.unlock(kBen);
  EXPECT_EQ(loop_.take(), Heard{invited(second)});
  EXPECT_TRUE(mutex_.resume(second, Wake::invited));
  mutex_.unlock(kCleo);
}

TEST_F(WakerTest, AHeadThatLeavesTakesItsHandOffAlong) {
  Waiter first(loop_, kBen);
  Waiter second(loop_, kCleo);
  mutex_.enter(first);
  inviteInVain();
  P::pass(kPatience);
  mutex_.resume(first, Wake::invited);
  mutex_.enter(second);
  EXPECT_EQ(mutex_.leave(first), Leave::left);
  EXPECT_EQ(word(), heldBy(kAnna) | kQueued);
  EXPECT_EQ(mutex_.leave(second), Leave::left);
  EXPECT_EQ(word(), heldBy(kAnna));
  mutex_.unlock(kAnna);
}

TEST_F(WakerTest, AnInvitedWaiterThatLeavesWhileTheLockIsHeldIsOnItsWayNoMore) {
  Waiter first(loop_, kBen);
  Waiter second(loop_, kCleo);
  mutex_.enter(first);
  mutex_.enter(second);
  inviteInVain();
  EXPECT_EQ(mutex_.leave(first), Leave::leftAwake);
  EXPECT_EQ(word(), heldBy(kAnna) | kQueued);
  loop_.take();
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), Heard{invited(second)});
  EXPECT_TRUE(mutex_.resume(second, Wake::invited));
  mutex_.unlock(kCleo);
}

TEST_F(WakerTest, AllInvitedWaitersOfAnAgentThatDiesPassTheInvitationOn) {
  Waiter w[] = {{loop_, kBen}, {loop_, kBen}, {loop_, kCleo}};
  for (Waiter& waiter : w) mutex_.enter(waiter);
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), Heard{invited(w[0])});
  mutex_.leaveAll(kBen, [](Waiter&, Leave) {});
  EXPECT_EQ(loop_.take(), Heard{invited(w[2])});
  EXPECT_EQ(word(), kQueued | kWaker);
  EXPECT_TRUE(mutex_.resume(w[2], Wake::invited));
  mutex_.unlock(kCleo);
}

TEST_F(WakerTest, ADeathWhileTheInvitedWaiterIsOnItsWayIsToldToIt) {
  Waiter w(loop_, kBen);
  mutex_.enter(w);
  inviteInVain();
  EXPECT_TRUE(mutex_.abandon(kAnna));
  EXPECT_EQ(word(), MutexRules::kAbandoned | kQueued | kWaker);
  EXPECT_TRUE(mutex_.resume(w, Wake::invited));
  EXPECT_TRUE(w.abandoned);
  mutex_.unlock(kBen);
}

TEST_F(WakerTest, AStrictHeadWantsTheHandOffFromTheStart) {
  Waiter strict(loop_, kBen);
  strict.mayBeOvertaken = false;
  mutex_.enter(strict);
  EXPECT_EQ(word(), heldBy(kAnna) | kQueued | kHandOff);
  mutex_.unlock(kAnna);
  EXPECT_EQ(word(), heldBy(kBen));
  mutex_.unlock(kBen);
}

TEST_F(WakerTest, AStrictWaiterOfAHigherPriorityIsHandedTheLockThoughAnotherIsOnItsWay) {
  Waiter w(loop_, kBen);
  Asking urgent(loop_, kCleo, 1, 1);
  urgent.mayBeOvertaken = false;
  mutex_.enter(w);
  inviteInVain();
  mutex_.enter(urgent);
  EXPECT_EQ(word(), heldBy(kAnna) | kQueued | kWaker | kHandOff);
  mutex_.unlock(kAnna);
  EXPECT_EQ(word(), heldBy(kCleo) | kQueued | kWaker);
  mutex_.unlock(kCleo);
  EXPECT_TRUE(mutex_.resume(w, Wake::invited));
  mutex_.unlock(kBen);
}

TEST_F(WakerTest, AnInvitedWaiterBehindANewHeadInvitesTheHead) {
  Waiter w(loop_, kBen);
  Asking urgent(loop_, kCleo, 1, 1);
  mutex_.enter(w);
  inviteInVain();
  mutex_.enter(urgent);
  mutex_.unlock(kAnna);
  loop_.take();
  EXPECT_FALSE(mutex_.resume(w, Wake::invited));
  EXPECT_EQ(loop_.take(), Heard{invited(urgent)});
  EXPECT_EQ(word(), kQueued | kWaker);
  EXPECT_TRUE(mutex_.resume(urgent, Wake::invited));
  mutex_.unlock(kCleo);
  EXPECT_TRUE(mutex_.resume(w, Wake::invited));
  mutex_.unlock(kBen);
}

TEST_F(WakerTest, WaitersOfTheReleasingAgentDoNotWaitForTheInvitedOne) {
  Waiter w(loop_, kBen);
  Waiter own(loop_, kAnna);
  mutex_.enter(w);
  inviteInVain();
  mutex_.enter(own);
  mutex_.unlockQueued(kAnna);
  EXPECT_EQ(loop_.take(), (Heard{invited(w), admitted(own)}));
  EXPECT_EQ(word(), heldBy(kAnna) | kQueued | kWaker);
  P::pass(kPatience);
  mutex_.unlockQueued(kAnna);
  EXPECT_EQ(word(), heldBy(kBen)) << "within the patience of the head";
  EXPECT_TRUE(mutex_.resume(w, Wake::invited));
  mutex_.unlock(kBen);
}

TEST(RWLockWakerTest, TheLastReleaseLeavesTheLockFreeForTheWriterOnItsWay) {
  BasicRWLock<P> lock;
  Notes loop;
  Asking writer(loop, kBen, kWrite);
  lock.lockRead(kAnna);
  lock.enter(writer);
  lock.unlockRead(kAnna);
  EXPECT_EQ(wordOf(lock).load(), 1U | RWLockRules::kWaker);
  EXPECT_TRUE(lock.tryLockWrite(kAnna));
  {
    const auto bucket = P::lot().open(&lock);
    lock.unlockWrite(kAnna);
  }
  EXPECT_TRUE(lock.tryLockRead());
  {
    const auto bucket = P::lot().open(&lock);
    lock.unlockRead(kAnna);
  }
  EXPECT_EQ(loop.take(), Heard{invited(writer)});
  EXPECT_TRUE(lock.resume(writer, Wake::invited));
  lock.unlockWrite(kBen);
  EXPECT_EQ(wordOf(lock).load(), 0U);
}

TEST(RWLockWakerTest, ReadersThatLeaveOthersBehindNeedNoBucket) {
  BasicRWLock<P> lock;
  Notes loop;
  Asking writer(loop, kBen, kWrite);
  for (int i = 0; i < 3; ++i) lock.lockRead(kAnna);
  lock.enter(writer);
  {
    const auto bucket = P::lot().open(&lock);
    lock.unlockRead(kAnna);
    lock.unlockRead(kAnna);
  }
  EXPECT_EQ(lock.readers(), 1U);
  P::pass(kPatience);
  lock.unlockRead(kAnna);
  EXPECT_EQ(loop.take(), Heard{admitted(writer)});
  lock.unlockWrite(kBen);
  EXPECT_EQ(wordOf(lock).load(), 0U);
}

}  // namespace
}  // namespace boxoffice::test
