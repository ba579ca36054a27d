// A barrier's rounds, and how it breaks.
#include "support.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using P = FakeClockPlatform;

class BarrierTest : public testing::Test {
 protected:
  ~BarrierTest() override { EXPECT_EQ(P::lot().queues(), 0U); }

  BasicBarrier<P> barrier_{3};
  Notes loop_;
  Waiter a_{loop_, kAnna};
  Waiter b_{loop_, kBen};
  Waiter c_{loop_, kCleo};
};

TEST_F(BarrierTest, HasAtLeastOneParty) {
  constexpr std::uint32_t kMost = BasicBarrier<P>::kMaxParties;
  EXPECT_EQ(faultOf([] { BasicBarrier<P> bad(0); }), Fault::badArgument);
  EXPECT_EQ(faultOf([] { BasicBarrier<P> bad(kMost + 1); }), Fault::badArgument);
  EXPECT_EQ(BasicBarrier<P>(kMost).parties(), kMost);
  BasicBarrier<P> alone(1);
  EXPECT_EQ(alone.wait(), Passage::last);
  EXPECT_EQ(alone.waitFor(0ns), Passage::last);
}

TEST_F(BarrierTest, AllGoWhenTheLastArrivesAndItStartsAnew) {
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(barrier_.enter(a_), Passage::waiting);
    EXPECT_EQ(barrier_.enter(b_), Passage::waiting);
    EXPECT_EQ(barrier_.arrived(), 2U);
    EXPECT_EQ(loop_.take(), Heard{});
    EXPECT_EQ(barrier_.enter(c_), Passage::last);
    EXPECT_EQ(barrier_.arrived(), 0U);
    EXPECT_EQ(loop_.take(), (Heard{admitted(a_), admitted(b_)}));
    EXPECT_EQ(barrier_.resume(a_), Passage::passed);
    EXPECT_EQ(barrier_.resume(b_), Passage::passed);
    EXPECT_FALSE(barrier_.isBroken());
  }
}

TEST_F(BarrierTest, TheNextRoundMayStartBeforeTheLastOneHasWoken) {
  barrier_.enter(a_);
  barrier_.enter(b_);
  EXPECT_EQ(barrier_.enter(c_), Passage::last);
  EXPECT_EQ(barrier_.enter(c_), Passage::waiting);
  EXPECT_EQ(barrier_.arrived(), 1U);
  EXPECT_EQ(barrier_.resume(a_), Passage::passed);
  EXPECT_EQ(barrier_.enter(a_), Passage::waiting);
  EXPECT_EQ(barrier_.resume(b_), Passage::passed);
  EXPECT_EQ(barrier_.enter(b_), Passage::last);
  EXPECT_EQ(barrier_.resume(c_), Passage::passed);
}

TEST_F(BarrierTest, APartyThatLeavesBreaksTheBarrierForAll) {
  barrier_.enter(a_);
  barrier_.enter(b_);
  EXPECT_TRUE(barrier_.leave(a_));
  EXPECT_TRUE(barrier_.isBroken());
  EXPECT_EQ(barrier_.arrived(), 0U);
  EXPECT_EQ(loop_.take(), Heard{admitted(b_)});
  EXPECT_EQ(barrier_.resume(b_), Passage::broken);
  EXPECT_EQ(barrier_.enter(c_), Passage::broken) << "a party that arrives later is told at once";
  EXPECT_EQ(barrier_.wait(), Passage::broken);
  EXPECT_EQ(faultOf([&] { barrier_.leave(a_); }), Fault::notWaiting);
}

TEST_F(BarrierTest, APartyThatLeavesTooLateHasPassed) {
  barrier_.enter(a_);
  barrier_.enter(b_);
  barrier_.enter(c_);
  EXPECT_FALSE(barrier_.leave(a_));
  EXPECT_EQ(barrier_.resume(a_), Passage::passed);
  EXPECT_FALSE(barrier_.isBroken());
  EXPECT_EQ(barrier_.resume(b_), Passage::passed);
  EXPECT_EQ(faultOf([&] { barrier_.leave(c_); }), Fault::notWaiting);
}

TEST_F(BarrierTest, BreaksNowAndResets) {
  barrier_.enter(a_);
  barrier_.breakNow();
  EXPECT_EQ(barrier_.resume(a_), Passage::broken);
  EXPECT_TRUE(barrier_.isBroken());
  barrier_.breakNow();
  EXPECT_TRUE(barrier_.isBroken());
  barrier_.reset();
  EXPECT_FALSE(barrier_.isBroken());

  EXPECT_EQ(barrier_.enter(a_), Passage::waiting);
  barrier_.reset();
  EXPECT_FALSE(barrier_.isBroken());
  EXPECT_EQ(barrier_.arrived(), 0U);
  EXPECT_EQ(barrier_.resume(a_), Passage::broken) << "a reset breaks the round that waits";
  EXPECT_EQ(barrier_.enter(a_), Passage::waiting);
  EXPECT_EQ(barrier_.enter(b_), Passage::waiting);
  EXPECT_EQ(barrier_.enter(c_), Passage::last);
  EXPECT_EQ(barrier_.resume(a_), Passage::passed);
}

TEST_F(BarrierTest, ATimeoutBreaksTheBarrier) {
  barrier_.enter(a_);
  EXPECT_EQ(barrier_.waitFor(20us), Passage::broken);
  EXPECT_EQ(barrier_.resume(a_), Passage::broken);
  EXPECT_TRUE(barrier_.isBroken());
  barrier_.reset();
  EXPECT_EQ(barrier_.waitFor(0ns), Passage::broken);
  EXPECT_TRUE(barrier_.isBroken());
}

TEST_F(BarrierTest, TheLastPartyNeedsNoTime) {
  barrier_.enter(a_);
  barrier_.enter(b_);
  EXPECT_EQ(barrier_.waitFor(-1s), Passage::last);
  EXPECT_EQ(barrier_.resume(a_), Passage::passed);
}

TEST_F(BarrierTest, ThreadsAndLoopsMeet) {
  std::thread one([&] { EXPECT_EQ(barrier_.wait(), Passage::passed); });
  std::thread two([&] { EXPECT_EQ(barrier_.waitFor(1h), Passage::passed); });
  awaitQueue<P>(&barrier_, 2);
  EXPECT_EQ(barrier_.enter(a_), Passage::last);
  one.join();
  two.join();
}

TEST_F(BarrierTest, ABrokenBarrierWakesBlockedThreads) {
  std::thread one([&] { EXPECT_EQ(barrier_.wait(), Passage::broken); });
  awaitQueue<P>(&barrier_, 1);
  barrier_.breakNow();
  one.join();
}

/// The barrier's word without a barrier object, as in shared memory.
class BarrierWordTest : public testing::Test {
 protected:
  ~BarrierWordTest() override { EXPECT_EQ(P::lot().queues(), 0U); }

  static constexpr std::uint32_t kParties = 3;
  static constexpr std::uint32_t kStart = kParties << 2;
  static constexpr std::uint32_t kQueued = 1;

  std::uint32_t word() { return wordOf(word_).load(); }

  BasicBarrierWord<P> word_{kParties};
  Notes loop_;
  Waiter a_{loop_, kAnna};
  Waiter b_{loop_, kBen};
  Waiter c_{loop_, kAnna};
};

TEST_F(BarrierWordTest, IsItsWord) {
  static_assert(sizeof(word_) == sizeof(std::uint32_t));
  EXPECT_EQ(word(), kStart);
  EXPECT_EQ(faultOf([] { BasicBarrierWord<P> bad(0); }), Fault::badArgument);
}

TEST_F(BarrierWordTest, TellsEachPartyHowManyAreStillMissing) {
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(word_.enter(a_, kParties), Passage::waiting);
    EXPECT_EQ(a_.ask, 2U);
    EXPECT_EQ(word_.enter(b_, kParties), Passage::waiting);
    EXPECT_EQ(b_.ask, 1U);
    EXPECT_EQ(word(), (1U << 2) | kQueued);
    EXPECT_EQ(word_.enter(c_, kParties), Passage::last);
    EXPECT_EQ(c_.ask, 0U);
    EXPECT_EQ(word(), kStart);
    EXPECT_EQ(word_.resume(a_), Passage::passed);
    EXPECT_EQ(word_.resume(b_), Passage::passed);
  }
}

TEST_F(BarrierWordTest, APartyThatGivesUpIsToldSo) {
  Waiter late;
  EXPECT_EQ(word_.enterBlocking(late, kParties, P::now()), Passage::gaveUp);
  EXPECT_EQ(word_.enterBlocking(late, kParties, kNever), Passage::broken);
  EXPECT_EQ(word_.arrived(kParties), 0U);
  word_.reset(kParties);
  EXPECT_EQ(word(), kStart);
  word_.enter(a_, kParties);
  EXPECT_EQ(word_.leave(a_), Leave::left);
  word_.reset(kParties);
  word_.enter(a_, kParties);
  word_.breakNow();
  EXPECT_EQ(word_.leave(a_), Leave::admitted) << "it was broken by another";
  EXPECT_EQ(word_.resume(a_), Passage::broken);
}

}  // namespace
}  // namespace boxoffice::test
