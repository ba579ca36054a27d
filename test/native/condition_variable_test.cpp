// Waiting for a condition: notifications, timeouts, and the queue in which the waiter stands.
#include "support.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using P = FakeClockPlatform;

class ConditionVariableTest : public testing::Test {
 protected:
  ~ConditionVariableTest() override {
    EXPECT_EQ(wordOf(mutex_).load(), 0U);
    EXPECT_EQ(wordOf(condition_).load(), 0U);
    EXPECT_EQ(P::lot().queues(), 0U);
  }

  void wait(Waiter& w) {
    mutex_.lock(w.agent);
    condition_.enter(w, mutex_);
  }

  BasicMutex<P> mutex_;
  BasicConditionVariable<P> condition_;
  Notes loop_;
  Waiter a_{loop_, kAnna};
  Waiter b_{loop_, kBen};
  Waiter c_{loop_, kCleo};
};

TEST_F(ConditionVariableTest, WaitingNeedsTheMutex) {
  EXPECT_EQ(faultOf([&] { condition_.wait(mutex_); }), Fault::notHolder);
  EXPECT_EQ(faultOf([&] { condition_.enter(a_, mutex_); }), Fault::notHolder);
  mutex_.lock(kBen);
  EXPECT_EQ(faultOf([&] { condition_.waitFor(mutex_, 0ns, kAnna); }), Fault::notHolder);
  EXPECT_EQ(mutex_.owner(), kBen);
  mutex_.unlock(kBen);
}

TEST_F(ConditionVariableTest, ANotificationWithoutAWaiterIsForgotten) {
  condition_.notifyOne();
  condition_.notifyAll();
  wait(a_);
  EXPECT_EQ(loop_.take(), Heard{});
  EXPECT_TRUE(condition_.leave(a_));
}

TEST_F(ConditionVariableTest, AWaiterUnlocksTheMutexAndHoldsItAgainWhenNotified) {
  wait(a_);
  EXPECT_EQ(mutex_.owner(), kNoAgent);
  condition_.notifyOne();
  EXPECT_EQ(loop_.take(), Heard{admitted(a_)});
  EXPECT_TRUE(mutex_.resume(a_, Wake::admitted));
  EXPECT_EQ(mutex_.owner(), kAnna);
  EXPECT_EQ(faultOf([&] { mutex_.leave(a_); }), Fault::notWaiting);
  mutex_.unlock(kAnna);
}

TEST_F(ConditionVariableTest, NotifyOneTakesTheFirstAndNotifyAllTheRest) {
  for (Waiter* w : {&a_, &b_, &c_}) wait(*w);
  condition_.notifyOne();
  EXPECT_EQ(loop_.take(), Heard{admitted(a_)});
  EXPECT_EQ(queueSizeAt<P>(&condition_), 2U);
  condition_.notifyAll();
  EXPECT_EQ(loop_.take(), Heard{}) << "no waiter wakes to find the mutex taken";
  EXPECT_EQ(queueSizeAt<P>(&mutex_), 2U);
  P::pass(kPatience);
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), Heard{admitted(b_)});
  P::pass(kPatience);
  mutex_.unlock(kBen);
  EXPECT_EQ(loop_.take(), Heard{admitted(c_)});
  mutex_.unlock(kCleo);
}

TEST_F(ConditionVariableTest, HigherPrioritiesAreNotifiedFirst) {
  b_.priority = 1;
  for (Waiter* w : {&a_, &b_}) wait(*w);
  condition_.notifyOne();
  EXPECT_EQ(loop_.take(), Heard{admitted(b_)});
  mutex_.unlock(kBen);
  EXPECT_TRUE(condition_.leave(a_));
}

TEST_F(ConditionVariableTest, AWaiterThatLeavesTakesNoNotificationWithIt) {
  for (Waiter* w : {&a_, &b_}) wait(*w);
  EXPECT_TRUE(condition_.leave(a_));
  EXPECT_EQ(faultOf([&] { condition_.leave(a_); }), Fault::notWaiting);
  condition_.notifyOne();
  EXPECT_EQ(loop_.take(), Heard{admitted(b_)});
  mutex_.unlock(kBen);
}

TEST_F(ConditionVariableTest, OnceNotifiedThereIsNoWayBack) {
  wait(a_);
  mutex_.lock(kBen);
  condition_.notifyOne();
  EXPECT_FALSE(condition_.leave(a_)) << "in the mutex's line by now";
  mutex_.unlock(kBen);
  EXPECT_FALSE(condition_.leave(a_));
  const Heard heard = loop_.take();
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_TRUE(mutex_.resume(a_, heard[0].how));
  EXPECT_FALSE(condition_.leave(a_)) << "and holding it at last";
  mutex_.unlock(kAnna);
}

TEST_F(ConditionVariableTest, ANotifiedWaiterIsToldOfAnAbandonedMutex) {
  wait(a_);
  mutex_.lock(kBen);
  mutex_.abandon(kBen);
  condition_.notifyOne();
  EXPECT_TRUE(mutex_.resume(a_, Wake::admitted));
  EXPECT_TRUE(a_.abandoned);
  mutex_.unlock(kAnna);
}

TEST_F(ConditionVariableTest, AWaiterThatWaitsAgainLeavesADeathToTheNextHolder) {
  wait(a_);
  mutex_.lock(kBen);
  mutex_.abandon(kBen);
  condition_.notifyOne();
  EXPECT_TRUE(mutex_.resume(a_, Wake::admitted));
  condition_.enter(a_, mutex_, true);
  EXPECT_TRUE(mutex_.lock(kBen).abandoned);
  mutex_.unlock(kBen);
  EXPECT_TRUE(condition_.leave(a_));
  EXPECT_FALSE(mutex_.lock(kBen).abandoned);
  mutex_.unlock(kBen);
}

TEST_F(ConditionVariableTest, WaitersOfTwoMutexesGoToTheirOwn) {
  BasicMutex<P> other;
  wait(a_);
  other.lock(kBen);
  condition_.enter(b_, other);
  condition_.notifyAll();
  EXPECT_EQ(mutex_.owner(), kAnna);
  EXPECT_EQ(other.owner(), kBen);
  mutex_.unlock(kAnna);
  other.unlock(kBen);
}

TEST_F(ConditionVariableTest, ATimeoutLocksTheMutexAgain) {
  for (const auto timeout : {-1'000'000ns, 0ns, 20'000ns}) {
    mutex_.lock();
    const auto outcome = condition_.waitFor(mutex_, timeout);
    EXPECT_FALSE(outcome.notified);
    EXPECT_TRUE(outcome.entry.granted);
    EXPECT_EQ(mutex_.owner(), thisThread());
    mutex_.unlock();
  }
}

TEST_F(ConditionVariableTest, APredicateIsAskedBeforeAndAfterWaiting) {
  mutex_.lock();
  int asked = 0;
  EXPECT_TRUE(condition_.waitUntil(mutex_, Deadline::min(), [&] { return ++asked > 0; }));
  EXPECT_EQ(asked, 1) << "true already: no wait";
  EXPECT_TRUE(condition_.waitUntil(mutex_, Deadline::min(), [&] { return ++asked > 2; }));
  EXPECT_EQ(asked, 3) << "asked once more after the deadline";
  EXPECT_FALSE(condition_.waitUntil(mutex_, Deadline::min(), [] { return false; }));
  EXPECT_EQ(mutex_.owner(), thisThread());
  mutex_.unlock();
}

TEST_F(ConditionVariableTest, AThreadWaitsUntilThePredicateHolds) {
  int stage = 0;
  std::thread thread([&] {
    mutex_.lock();
    EXPECT_TRUE(condition_.waitUntil(mutex_, kNever, [&] { return stage == 2; }));
    EXPECT_EQ(mutex_.owner(), thisThread());
    mutex_.unlock();
  });
  for (int i = 1; i <= 2; ++i) {
    awaitQueue<P>(&condition_, 1);
    mutex_.lock();
    stage = i;
    mutex_.unlock();
    condition_.notifyOne();
  }
  thread.join();
}

TEST_F(ConditionVariableTest, ThreadsWaitTogetherAndGoOneByOne) {
  std::vector<std::thread> threads;
  int inside = 0;
  int through = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      mutex_.lock();
      EXPECT_TRUE(condition_.wait(mutex_).granted);
      EXPECT_EQ(++inside, 1);
      ++through;
      --inside;
      mutex_.unlock();
    });
  }
  awaitQueue<P>(&condition_, 4);
  condition_.notifyAll();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(through, 4);
}

}  // namespace
}  // namespace boxoffice::test
