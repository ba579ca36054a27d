// Combinations of priorities, strict waiters and waiters that give up.
#include "support.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using P = FakeClockPlatform;

TEST(EdgeTest, AnInvitationThatIsOutOfDateLetsAHigherPriorityGoFirst) {
  BasicMutex<P> m;
  Notes loop;
  m.lock(kAnna);
  Asking low(loop, kBen, 1, 0);
  m.enter(low);
  m.unlock(kAnna);
  EXPECT_EQ(loop.take(), Heard{invited(low)});
  ASSERT_TRUE(m.tryLock(kAnna));  // barges in
  Asking high(loop, kCleo, 1, 5);
  EXPECT_FALSE(m.enter(high));
  m.unlock(kAnna);  // within patience: free, only `low` is woken
  EXPECT_EQ(m.owner(), kNoAgent);
  loop.take();
  EXPECT_FALSE(m.resume(low, Wake::invited)) << "low went before high";
  EXPECT_EQ(loop.take(), Heard{invited(high)}) << "the head, which fits, is told";
  EXPECT_TRUE(m.resume(high, Wake::invited));
  m.unlock(kCleo);
  EXPECT_EQ(loop.take(), Heard{invited(low)});
  EXPECT_TRUE(m.resume(low, Wake::invited));
  m.unlock(kBen);
}

TEST(EdgeTest, AWaiterBehindTheHeadDoesNotProlongItsPatience) {
  BasicMutex<P> m;
  Notes loop;
  m.lock(kAnna);
  Asking low(loop, kBen, 1, 0);
  m.enter(low);
  m.unlock(kAnna);
  ASSERT_TRUE(m.tryLock(kAnna));
  Asking high(loop, kCleo, 1, 5);
  m.enter(high);  // `high` is now the head
  P::pass(kPatience - 1us);
  m.unlock(kAnna);
  EXPECT_FALSE(m.resume(low, Wake::invited));
  ASSERT_TRUE(m.tryLock(kAnna));
  P::pass(1us);
  EXPECT_FALSE(m.resume(high, Wake::invited));
  loop.take();
  m.unlock(kAnna);
  EXPECT_EQ(m.owner(), kCleo) << "it has been patient for 1 ms";
  EXPECT_EQ(loop.take(), Heard{admitted(high)});
  P::pass(kPatience);
  m.unlock(kCleo);
  EXPECT_EQ(loop.take(), Heard{admitted(low)});
  m.unlock(kBen);
}

TEST(EdgeTest, AStrictWaiterBehindTheHeadIsNotOvertaken) {
  BasicMutex<P> m;
  Notes loop;
  m.lock(kAnna);
  Waiter head(loop, kBen);
  Waiter strict(loop, kCleo);
  strict.mayBeOvertaken = false;
  Waiter own(loop, kAnna);
  m.enter(head);
  m.enter(strict);
  m.enter(own);
  m.unlock(kAnna);
  EXPECT_NE(loop.take(), Heard{admitted(own)}) << "strict came before own and may not be overtaken";
  ASSERT_TRUE(m.resume(head, Wake::invited));
  m.unlock(kBen);
  EXPECT_EQ(m.owner(), kCleo);
  m.unlock(kCleo);
  ASSERT_TRUE(m.resume(own, Wake::invited));
  m.unlock(kAnna);
}

TEST(EdgeTest, ALockSetThatGivesUpTooLateWaitsForNothingMore) {
  BasicMutex<P> m[2];
  Notes loop;
  BasicLockSet<P> set{&m[0], &m[1]};
  Waiter w(loop, kAnna);
  m[0].lock(kBen);
  m[1].lock(kBen);
  ASSERT_FALSE(set.enter(w));
  P::pass(kPatience);
  m[0].unlock(kBen);
  // lock_set.h: after Leave::admitted, take the wake, call resume, then unlock.
  ASSERT_EQ(set.leave(w), Leave::admitted);
  ASSERT_EQ(loop.take(), Heard{admitted(w)});
  set.resume(w, Wake::admitted);
  set.unlock(kAnna);
  EXPECT_EQ(queueSizeAt<P>(&m[1]), 0U) << "w was to be gone, and waits again";
  m[1].unlock(kBen);
  EXPECT_EQ(w.state, Waiter::State::idle);
}

TEST(EdgeTest, AMailboxKeepsWhatATakeThatThrewDidNotGet) {
  struct Silent final : Wakeup {
    void send() noexcept override {}
  } wakeup;
  BasicMailbox<P> mailbox(wakeup);
  Waiter a, b;
  mailbox.wake(a, Wake::admitted);
  mailbox.wake(b, Wake::admitted);
  EXPECT_THROW(mailbox.collect([](Waiter&, Wake) { throw std::bad_alloc(); }), std::bad_alloc);
  int more = 0;
  mailbox.collect([&](Waiter&, Wake) { ++more; });
  EXPECT_EQ(more, 1) << "the second wake is lost";
}

TEST(EdgeTest, TheLastInvitedWaiterLeavesTheWordAsJavaScriptKnowsIt) {
  BasicMutex<P> mutex;
  Notes loop;
  mutex.lock(kAnna);
  Waiter w(loop, kBen);
  ASSERT_FALSE(mutex.enter(w));
  mutex.unlock(kAnna);
  ASSERT_TRUE(mutex.resume(w, Wake::invited));
  EXPECT_EQ(wordOf(mutex).load(), MutexRules::held(kBen)) << "the line bit is off";
  mutex.unlock(kBen);
}

TEST(EdgeTest, AllWaitersOfAnAgentLeaveAndOthersStay) {
  BasicMutex<P> mutex;
  Notes loop;
  mutex.lock(kAnna);
  Asking own[] = {{loop, kAnna}, {loop, kAnna, 1, 3}, {loop, kAnna}, {loop, kAnna, 1, 3}};
  Asking others[] = {{loop, kBen}, {loop, kCleo, 1, 3}};
  mutex.enter(own[0]);
  mutex.enter(others[0]);
  mutex.enter(own[1]);
  mutex.enter(others[1]);
  mutex.enter(own[2]);
  mutex.enter(own[3]);
  std::vector<Waiter*> gone;
  mutex.leaveAll(kAnna, [&](Waiter& w, Leave how) {
    EXPECT_EQ(how, Leave::left);
    gone.push_back(&w);
  });
  EXPECT_EQ(gone, (std::vector<Waiter*>{&own[1], &own[3], &own[0], &own[2]}));
  EXPECT_EQ(mutex.queueSize(), 2U);
  P::pass(kPatience);
  mutex.unlock(kAnna);
  P::pass(kPatience);
  EXPECT_EQ(mutex.owner(), kCleo);
  mutex.unlock(kCleo);
  EXPECT_EQ(mutex.owner(), kBen);
  mutex.unlock(kBen);
  EXPECT_EQ(mutex.queueSize(), 0U);
}

TEST(EdgeTest, LeavingAllAdmitsNoneOfThem) {
  BasicWeightedSemaphore<P> semaphore(1);
  Notes loop;
  Asking heavy(loop, kAnna, 2);
  Asking light(loop, kAnna, 1);
  Asking other(loop, kBen, 1);
  for (Asking* w : {&heavy, &light, &other}) ASSERT_FALSE(semaphore.enter(*w));
  int left = 0;
  semaphore.leaveAll(kAnna, [&](Waiter&, Leave) { ++left; });
  EXPECT_EQ(left, 2);
  EXPECT_EQ(loop.take(), Heard{admitted(other)}) << "it fits, now that they have gone";
}

TEST(EdgeTest, LeavingAllTellsWhichAreAwake) {
  BasicMutex<P> mutex;
  Notes loop;
  mutex.lock(kAnna);
  Waiter w(loop, kBen);
  mutex.enter(w);
  mutex.unlock(kAnna);
  EXPECT_EQ(loop.take(), Heard{invited(w)});
  mutex.leaveAll(kBen, [](Waiter&, Leave how) { EXPECT_EQ(how, Leave::leftAwake); });
  EXPECT_FALSE(mutex.resume(w, Wake::invited));
  EXPECT_EQ(wordOf(mutex).load(), 0U);
}

}  // namespace
}  // namespace boxoffice::test
