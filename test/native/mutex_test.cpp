// Features of the plain mutex: death of a holder, shared memory, waiters' options.
#include <limits>

#include "support.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using P = FakeClockPlatform;

constexpr std::uint32_t kQueued = 1;
constexpr std::uint32_t kAbandoned = 8;
constexpr std::uint32_t heldBy(AgentId agent) { return agent << 4; }

class MutexTest : public testing::Test {
 protected:
  ~MutexTest() override {
    EXPECT_EQ(wordOf(mutex_).load(), 0U);
    EXPECT_EQ(P::lot().queues(), 0U);
  }

  BasicMutex<P> mutex_;
  Notes loop_;
};

TEST_F(MutexTest, TheWordHasTheOwnerAndWhetherWaitersQueue) {
  EXPECT_FALSE(mutex_.isLocked());
  mutex_.lock(kAnna);
  EXPECT_TRUE(mutex_.isLocked());
  EXPECT_EQ(wordOf(mutex_).load(), heldBy(kAnna));
  Waiter w(loop_, kBen);
  mutex_.enter(w);
  EXPECT_EQ(wordOf(mutex_).load(), heldBy(kAnna) | kQueued);
  mutex_.leave(w);
  EXPECT_EQ(wordOf(mutex_).load(), heldBy(kAnna));
  mutex_.unlock(kAnna);
}

TEST_F(MutexTest, TheHighestAgentFitsIntoTheWord) {
  mutex_.lock(kMaxAgent);
  EXPECT_EQ(mutex_.owner(), kMaxAgent);
  mutex_.unlock(kMaxAgent);
}

TEST_F(MutexTest, JavaScriptsTwoStepsAndOursAreTheSame) {
  const auto word = wordOf(mutex_);
  std::uint32_t expected = 0;
  EXPECT_TRUE(word.compare_exchange_strong(expected, heldBy(kAnna)));
  EXPECT_FALSE(mutex_.tryLock(kBen));
  EXPECT_EQ(mutex_.owner(), kAnna);
  mutex_.unlock(kAnna);

  mutex_.lock(kBen);
  expected = heldBy(kBen);
  EXPECT_TRUE(word.compare_exchange_strong(expected, 0));
  EXPECT_TRUE(mutex_.tryLock(kAnna));
  mutex_.unlock(kAnna);
}

TEST_F(MutexTest, AQueuedBitWithoutAQueueDoesNoHarm) {
  mutex_.lock(kAnna);
  wordOf(mutex_).fetch_or(kQueued);
  mutex_.unlock(kAnna);
}

TEST_F(MutexTest, AbandonTellsTheNextHolderOnce) {
  mutex_.lock(kAnna);
  EXPECT_TRUE(mutex_.abandon(kAnna));
  EXPECT_EQ(wordOf(mutex_).load(), kAbandoned);
  EXPECT_FALSE(mutex_.isLocked());

  const Entry entry = mutex_.tryLock(kBen);
  EXPECT_TRUE(entry.granted);
  EXPECT_TRUE(entry.abandoned);
  mutex_.unlock(kBen);
  EXPECT_FALSE(mutex_.lock(kCleo).abandoned);
  mutex_.unlock(kCleo);
}

TEST_F(MutexTest, EachFormOfLockIsToldOfAnAbandonedHold) {
  const auto abandonedByAnna = [&] {
    mutex_.lock(kAnna);
    mutex_.abandon(kAnna);
  };
  abandonedByAnna();
  EXPECT_TRUE(mutex_.lock(kBen).abandoned);
  mutex_.unlock(kBen);
  abandonedByAnna();
  EXPECT_TRUE(mutex_.lockFor(0ns, kBen).abandoned);
  mutex_.unlock(kBen);
  abandonedByAnna();
  Waiter w(loop_, kBen);
  EXPECT_TRUE(mutex_.enter(w));
  EXPECT_TRUE(w.abandoned);
  mutex_.unlock(kBen);
}

TEST_F(MutexTest, AbandonAdmitsTheHeadAndOnlyItIsTold) {
  mutex_.lock(kAnna);
  Waiter first(loop_, kBen);
  Waiter second(loop_, kCleo);
  mutex_.enter(first);
  mutex_.enter(second);
  P::pass(2 * kPatience);
  EXPECT_TRUE(mutex_.abandon(kAnna));
  EXPECT_EQ(loop_.take(), Heard{admitted(first)});
  EXPECT_TRUE(mutex_.resume(first, Wake::admitted));
  EXPECT_TRUE(first.abandoned);
  P::pass(2 * kPatience);
  mutex_.unlock(kBen);
  EXPECT_EQ(loop_.take(), Heard{admitted(second)});
  EXPECT_TRUE(mutex_.resume(second, Wake::admitted));
  EXPECT_FALSE(second.abandoned);
  mutex_.unlock(kCleo);
}

TEST_F(MutexTest, AbandonTellsABlockedThread) {
  mutex_.lock(kAnna);
  std::thread thread([&] {
    EXPECT_TRUE(mutex_.lock().abandoned);
    mutex_.unlock();
  });
  awaitQueue<P>(&mutex_, 1);
  EXPECT_TRUE(mutex_.abandon(kAnna));
  thread.join();
}

TEST_F(MutexTest, AbandonForAnAgentThatHoldsNothingChangesNothing) {
  EXPECT_FALSE(mutex_.abandon(kAnna));
  mutex_.lock(kBen);
  EXPECT_FALSE(mutex_.abandon(kAnna));
  Waiter w(loop_, kCleo);
  mutex_.enter(w);
  EXPECT_FALSE(mutex_.abandon(kAnna));
  EXPECT_EQ(wordOf(mutex_).load(), heldBy(kBen) | kQueued);
  EXPECT_EQ(loop_.take(), Heard{});
  mutex_.leave(w);
  mutex_.unlock(kBen);
}

TEST_F(MutexTest, HigherPrioritiesGoFirstAndFirstComeFirstServedWithin) {
  mutex_.lock(kAnna);
  Asking w[] = {{loop_, kBen, 1, 0},   {loop_, kBen, 1, 1}, {loop_, kBen, 1, 1},
                {loop_, kBen, 1, 0.5}, {loop_, kBen, 1, 0}, {loop_, kBen, 1, -1}};
  for (Waiter& waiter : w) mutex_.enter(waiter);
  AgentId holder = kAnna;
  for (const int next : {1, 2, 3, 0, 4, 5}) {
    P::pass(2 * kPatience);
    mutex_.unlock(holder);
    EXPECT_EQ(loop_.take(), Heard{admitted(w[next])});
    holder = kBen;
  }
  mutex_.unlock(kBen);
}

TEST_F(MutexTest, APriorityThatIsNoNumberIsRefused) {
  mutex_.lock(kAnna);
  Asking w(loop_, kBen, 1, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(faultOf([&] { mutex_.enter(w); }), Fault::badArgument);
  EXPECT_EQ(wordOf(mutex_).load(), heldBy(kAnna));
  EXPECT_EQ(faultOf([&] { mutex_.leave(w); }), Fault::notWaiting);
  mutex_.unlock(kAnna);
}

TEST_F(MutexTest, LeavingTooLateMeansTheMutexIsOurs) {
  mutex_.lock(kAnna);
  Waiter w(loop_, kBen);
  mutex_.enter(w);
  P::pass(2 * kPatience);
  mutex_.unlock(kAnna);
  EXPECT_EQ(mutex_.leave(w), Leave::admitted);
  EXPECT_EQ(loop_.take(), Heard{admitted(w)});
  EXPECT_TRUE(mutex_.resume(w, Wake::admitted));
  EXPECT_EQ(faultOf([&] { mutex_.leave(w); }), Fault::notWaiting);
  EXPECT_EQ(mutex_.owner(), kBen);
  mutex_.unlock(kBen);
}

TEST_F(MutexTest, AWaiterThatMayNotOvertakeQueuesForAFreeMutex) {
  mutex_.lock(kAnna);
  Waiter head(loop_, kBen);
  mutex_.enter(head);
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), Heard{invited(head)});

  Waiter polite(loop_, kBen);
  polite.mayOvertake = false;
  EXPECT_FALSE(mutex_.enter(polite));
  EXPECT_TRUE(mutex_.resume(head, Wake::invited));
  mutex_.unlock(kBen);
  EXPECT_EQ(loop_.take(), Heard{admitted(polite)});
  mutex_.unlock(kBen);

  EXPECT_TRUE(mutex_.enter(polite)) << "without a queue there is no waiter ahead";
  mutex_.unlock(kBen);
}

TEST_F(MutexTest, AWakeMayComeBackIntoTheLibrary) {
  // wake() runs without locks, so the parker can enter a queue of the same shard from inside it.
  struct Reentrant final : Parker {
    BasicMutex<P>* mutex = nullptr;
    Waiter again;
    void wake(Waiter&, Wake) noexcept override {
      again.parker = this;
      again.agent = kCleo;
      mutex->enter(again);
    }
  } parker;
  parker.mutex = &mutex_;
  mutex_.lock(kAnna);
  Waiter w(parker, kBen);
  mutex_.enter(w);
  P::pass(2 * kPatience);
  mutex_.unlock(kAnna);
  EXPECT_EQ(queueSizeAt<P>(&mutex_), 1U);
  EXPECT_EQ(mutex_.leave(parker.again), Leave::left);
  EXPECT_TRUE(mutex_.resume(w, Wake::admitted));
  mutex_.unlock(kBen);
}

}  // namespace
}  // namespace boxoffice::test
