// Events and the latch: which waiters a signal admits, and how long the state stays.
#include "support.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using P = FakeClockPlatform;

class EventTest : public testing::Test {
 protected:
  ~EventTest() override { EXPECT_EQ(P::lot().queues(), 0U); }

  Notes loop_;
  Waiter a_{loop_, kAnna};
  Waiter b_{loop_, kBen};
  Waiter c_{loop_, kCleo};
};

using AutoResetEventTest = EventTest;
using ManualResetEventTest = EventTest;
using CountdownLatchTest = EventTest;

TEST_F(AutoResetEventTest, AdmitsOneWaiterPerSignal) {
  BasicAutoResetEvent<P> event;
  EXPECT_FALSE(event.isSet());
  EXPECT_FALSE(event.tryWait());
  event.signal();
  EXPECT_TRUE(event.isSet());
  event.wait();
  EXPECT_FALSE(event.isSet());
  EXPECT_FALSE(event.waitFor(0ns));
  EXPECT_FALSE(event.waitFor(-1s));
}

TEST_F(AutoResetEventTest, SignalsWhileTheEventIsSetCountAsOne) {
  BasicAutoResetEvent<P> event(true);
  event.signal();
  event.signal();
  EXPECT_TRUE(event.tryWait());
  EXPECT_FALSE(event.tryWait());
  EXPECT_EQ(wordOf(event).load(), 0U);
}

TEST_F(AutoResetEventTest, ASignalAdmitsTheHeadAndIsNotKept) {
  BasicAutoResetEvent<P> event;
  EXPECT_FALSE(event.enter(a_));
  EXPECT_FALSE(event.enter(b_));
  event.signal();
  EXPECT_EQ(loop_.take(), Heard{admitted(a_)});
  EXPECT_FALSE(event.isSet());
  EXPECT_FALSE(event.tryWait());
  event.signal();
  EXPECT_EQ(loop_.take(), Heard{admitted(b_)});
  event.signal();
  EXPECT_TRUE(event.isSet());
}

TEST_F(AutoResetEventTest, AWaiterThatLeavesTakesNoSignalWithIt) {
  BasicAutoResetEvent<P> event;
  event.enter(a_);
  event.enter(b_);
  EXPECT_EQ(event.leave(a_), Leave::left);
  event.signal();
  EXPECT_EQ(loop_.take(), Heard{admitted(b_)});
  EXPECT_EQ(event.leave(b_), Leave::admitted);
  EXPECT_TRUE(event.resume(b_, Wake::admitted));
  EXPECT_EQ(faultOf([&] { event.leave(b_); }), Fault::notWaiting);
}

TEST_F(AutoResetEventTest, EachSignalWakesOneQueuedThread) {
  BasicAutoResetEvent<P> event;
  std::atomic<int> through{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      event.wait();
      ++through;
    });
  }
  awaitQueue<P>(&event, 4);
  for (int i = 1; i <= 4; ++i) {
    event.signal();
    await([&] { return through == i; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(event.isSet());
}

TEST_F(ManualResetEventTest, AdmitsAllWaitersUntilItIsReset) {
  BasicManualResetEvent<P> event;
  EXPECT_FALSE(event.isSet());
  EXPECT_FALSE(event.tryWait());
  EXPECT_FALSE(event.waitFor(0ns));
  event.set();
  event.set();
  EXPECT_TRUE(event.isSet());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(event.tryWait());
    EXPECT_TRUE(event.waitFor(0ns));
    event.wait();
  }
  EXPECT_TRUE(event.enter(a_));
  event.reset();
  EXPECT_FALSE(event.tryWait());
  event.reset();
  EXPECT_FALSE(event.isSet());
  EXPECT_TRUE(BasicManualResetEvent<P>(true).isSet());
}

TEST_F(ManualResetEventTest, SetAdmitsAllQueuedWaitersInOrder) {
  BasicManualResetEvent<P> event;
  for (Waiter* w : {&a_, &b_, &c_}) EXPECT_FALSE(event.enter(*w));
  EXPECT_EQ(event.leave(b_), Leave::left);
  event.reset();
  EXPECT_EQ(loop_.take(), Heard{});
  event.set(kNoAgent);
  EXPECT_EQ(loop_.take(), (Heard{admitted(a_), admitted(c_)}));
  EXPECT_TRUE(event.isSet());
  EXPECT_EQ(event.leave(a_), Leave::admitted);
  event.reset();
  EXPECT_EQ(wordOf(event).load(), 0U);
}

TEST_F(ManualResetEventTest, ThreadsGoTogether) {
  BasicManualResetEvent<P> event;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { event.wait(); });
  }
  awaitQueue<P>(&event, 4);
  event.set();
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CountdownLatchTest, OpensAtZeroForGood) {
  BasicCountdownLatch<P> latch(3);
  EXPECT_EQ(latch.count(), 3U);
  EXPECT_FALSE(latch.tryWait());
  EXPECT_FALSE(latch.waitFor(0ns));
  EXPECT_FALSE(latch.enter(a_));
  EXPECT_FALSE(latch.enter(b_));
  EXPECT_FALSE(latch.enter(c_));
  EXPECT_EQ(latch.leave(b_), Leave::left);
  latch.countDown();
  latch.countDown(0);
  EXPECT_EQ(latch.count(), 2U);
  EXPECT_EQ(loop_.take(), Heard{});
  latch.countDown(2);
  EXPECT_EQ(loop_.take(), (Heard{admitted(a_), admitted(c_)}));
  EXPECT_TRUE(latch.tryWait());
  EXPECT_TRUE(latch.waitFor(0ns));
  latch.wait();
  EXPECT_EQ(wordOf(latch).load(), 0U);
}

TEST_F(CountdownLatchTest, CountingBelowZeroIsMisuseAndChangesNothing) {
  BasicCountdownLatch<P> latch(2);
  EXPECT_EQ(faultOf([&] { latch.countDown(3); }), Fault::underflow);
  EXPECT_EQ(faultOf([&] { latch.countDown((1U << 31) + 1); }), Fault::underflow);
  EXPECT_EQ(latch.count(), 2U);
  latch.enter(a_);
  EXPECT_EQ(faultOf([&] { latch.countDown(3); }), Fault::underflow);
  EXPECT_EQ(latch.count(), 2U);
  EXPECT_EQ(loop_.take(), Heard{});
  latch.countDown(2);
  EXPECT_EQ(loop_.take(), Heard{admitted(a_)});
  EXPECT_EQ(faultOf([&] { latch.countDown(); }), Fault::underflow);
  EXPECT_TRUE(latch.tryWait());
}

TEST_F(CountdownLatchTest, HasALargestCountAndMayStartOpen) {
  constexpr std::uint32_t kMax = BasicCountdownLatch<P>::kMax;
  EXPECT_EQ(faultOf([] { BasicCountdownLatch<P> bad(kMax + 1); }), Fault::badArgument);
  BasicCountdownLatch<P> latch(kMax);
  EXPECT_EQ(latch.count(), kMax);
  latch.countDown(kMax);
  EXPECT_TRUE(latch.tryWait());
  EXPECT_TRUE(BasicCountdownLatch<P>(0).tryWait());
}

TEST_F(CountdownLatchTest, ThreadsWaitForAllToBeDone) {
  BasicCountdownLatch<P> latch(4);
  int done[4] = {};
  std::vector<std::thread> threads;
  for (int& mine : done) {
    threads.emplace_back([&] {
      mine = 1;
      latch.countDown();
      latch.wait();
      for (const int theirs : done) EXPECT_EQ(theirs, 1);
    });
  }
  latch.wait();
  for (const int theirs : done) EXPECT_EQ(theirs, 1);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace boxoffice::test
