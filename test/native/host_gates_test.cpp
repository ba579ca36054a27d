// The latches and barriers of scope host, step by step, and with a process killed before each step.
#include "host/host_barrier.h"
#include "host/host_latch.h"
#include "host_gate_test.h"

namespace boxoffice::test {
namespace {

using WorldLatch = host::BasicHostLatch<WorldPlatform>;
using WorldBarrier = host::BasicHostBarrier<WorldPlatform>;

// ---- latches and manual-reset events ----

struct HostLatchTest : HostGateTest<WorldLatch> {
  void begin(std::uint32_t count) { world_.at<host::GateSlot>(0).word.store(2 * count); }
};

TEST_F(HostLatchTest, OpensAtZeroForAllProcesses) {
  begin(2);
  Asking a(notes_, kAnna);
  Asking b(notes_, kBen);
  EXPECT_FALSE(of(1).enter(a));
  EXPECT_FALSE(of(2).enter(b));
  of(3).countDown();
  EXPECT_EQ(of(1).count(), 1U);
  EXPECT_EQ(faultOf([&] { of(3).countDown(2); }), Fault::underflow);
  EXPECT_EQ(notified(), Heard{});
  of(1).countDown();
  EXPECT_EQ(notified(), (Heard{admitted(a), admitted(b)}));
  Asking late(notes_, kAnna);
  EXPECT_TRUE(of(4).enter(late));
}

TEST_F(HostLatchTest, WaitersOfASetEventAreAdmittedThoughItIsResetBeforeTheyLook) {
  begin(1);
  Asking a(notes_, kAnna);
  Asking late(notes_, kBen);
  of(1).enter(a);
  of(2).set();
  of(2).reset();
  EXPECT_FALSE(of(1).isOpen());
  EXPECT_FALSE(of(1).enter(late)) << "came after the reset";
  EXPECT_EQ(notified(), Heard{admitted(a)});
  EXPECT_EQ(of(1).leave(late), Leave::left);
}

TEST_F(HostLatchTest, ASetThatComesBetweenTheCountAndTheLookAdmits) {
  begin(1);
  Asking a(notes_, kAnna);
  world_.meanwhile(Step::joined, [&] {
    of(2).set();
    of(2).reset();
  });
  EXPECT_TRUE(of(1).enter(a));
}

TEST_F(HostLatchTest, AProcessKilledAtAnyStepLeavesItOpenOrNot) {
  for (const Step step : kSteps) {
    for (int nth = 1; nth <= 2; ++nth) {
      begin(1);
      Asking a(notes_, kAnna);
      of(1).enter(a);
      if (killed(step, nth, [&] {
            Asking dying(notes_, kBen);
            of(3).enter(dying);
            of(3).leave(dying);
            of(3).set();
          })) {
        world_.evict<WorldLatch>(3);
      }
      const bool isOpen = of(2).isOpen();
      EXPECT_EQ(notified(), isOpen ? Heard{admitted(a)} : Heard{}) << static_cast<int>(step);
      if (!isOpen) of(1).leave(a);
      EXPECT_EQ(world_.at<host::GateSlot>(0).parts[3].load() & 0x3FFFFFFF, 0U);
    }
  }
}

// ---- barriers ----

struct HostBarrierTest : HostGateTest<WorldBarrier> {
  void begin(std::uint32_t parties) { world_.at<host::GateSlot>(0).word.store(parties << 2); }
  bool isBroken() { return (world_.at<host::GateSlot>(0).word.load() & 2) != 0; }
};

TEST_F(HostBarrierTest, RoundsPassAndDoNotMix) {
  begin(3);
  for (int round = 0; round < 3; ++round) {
    Asking a(notes_, kAnna);
    Asking b(notes_, kBen);
    Asking c(notes_, kCleo);
    EXPECT_EQ(of(1).enter(a, 3), Passage::waiting);
    EXPECT_EQ(of(2).enter(b, 3), Passage::waiting);
    EXPECT_EQ(a.ask, 2U);
    EXPECT_EQ(b.ask, 1U);
    EXPECT_EQ(of(3).enter(c, 3), Passage::last);
    // The next round begins before this round's waiters are notified.
    Asking next(notes_, kCleo);
    EXPECT_EQ(of(3).enter(next, 3), Passage::waiting);
    EXPECT_EQ(notified(), (Heard{admitted(a), admitted(b)}));
    EXPECT_FALSE(a.abandoned);
    Asking more(notes_, kAnna);
    Asking last(notes_, kBen);
    EXPECT_EQ(of(1).enter(more, 3), Passage::waiting);
    EXPECT_EQ(of(1).enter(last, 3), Passage::last);
    EXPECT_EQ(notified(), (Heard{admitted(more), admitted(next)}));
  }
}

TEST_F(HostBarrierTest, APartyThatGivesUpBreaksItForAll) {
  begin(3);
  Asking a(notes_, kAnna);
  Asking b(notes_, kBen);
  of(1).enter(a, 3);
  of(2).enter(b, 3);
  EXPECT_EQ(of(1).leave(a), Leave::left);
  EXPECT_TRUE(isBroken());
  EXPECT_EQ(notified(), Heard{admitted(b)});
  EXPECT_TRUE(b.abandoned);
  Asking late(notes_, kCleo);
  EXPECT_EQ(of(3).enter(late, 3), Passage::broken);
  of(3).reset(3);
  EXPECT_EQ(of(3).enter(late, 3), Passage::waiting);
  of(3).leave(late);
}

TEST_F(HostBarrierTest, AfterAResetEachPartyIsToldHowItsOwnRoundEnded) {
  begin(2);
  Asking passed(notes_, kAnna);
  Asking last(notes_, kBen);
  Asking failed(notes_, kCleo);
  of(1).enter(passed, 2);
  EXPECT_EQ(of(2).enter(last, 2), Passage::last);
  of(3).enter(failed, 2);
  of(2).reset(2);
  Asking again(notes_, kBen);
  EXPECT_EQ(of(2).enter(again, 2), Passage::waiting);
  of(4).breakNow();
  of(4).reset(2);
  EXPECT_EQ(notified(), (Heard{admitted(passed), admitted(again), admitted(failed)}));
  EXPECT_FALSE(passed.abandoned);
  EXPECT_TRUE(failed.abandoned);
  EXPECT_TRUE(again.abandoned);
}

TEST_F(HostBarrierTest, APartyThatDiesBreaksTheRoundItWaitsIn) {
  begin(3);
  Asking dying(notes_, kAnna);
  Asking b(notes_, kBen);
  of(1).enter(dying, 3);
  of(2).enter(b, 3);
  world_.evict<WorldBarrier>(1);
  EXPECT_TRUE(isBroken());
  deliver(2);
  EXPECT_EQ(notes_.take(), Heard{admitted(b)});
  EXPECT_TRUE(b.abandoned);
  of(2).reset(3);
  world_.evict<WorldBarrier>(1);
  EXPECT_FALSE(isBroken()) << "the second eviction finds nothing";
  deliverAll();
  notes_.take();
}

TEST_F(HostBarrierTest, APartyThatDiesAfterItsRoundHarmsNone) {
  begin(2);
  Asking dying(notes_, kAnna);
  Asking b(notes_, kBen);
  of(1).enter(dying, 2);
  EXPECT_EQ(of(2).enter(b, 2), Passage::last);
  world_.evict<WorldBarrier>(1);
  EXPECT_FALSE(isBroken());
  deliverAll();
  notes_.take();
}

TEST_F(HostBarrierTest, AResetBetweenTheCountAndTheArrivalIsSeen) {
  begin(3);
  Asking a(notes_, kAnna);
  Asking b(notes_, kBen);
  of(1).enter(a, 3);
  world_.meanwhile(Step::joined, [&] { of(2).reset(3); });
  EXPECT_EQ(of(1).enter(b, 3), Passage::waiting) << "in the new round";
  EXPECT_EQ(notes_.take(), Heard{admitted(a)});
  EXPECT_TRUE(a.abandoned);
  EXPECT_EQ(of(1).leave(b), Leave::left);
}

TEST_F(HostBarrierTest, KilledAtAnyStepTheRoundPassesForAllOrNone) {
  for (const Step step : kSteps) {
    for (int nth = 1; nth <= 6; ++nth) {
      begin(3);
      Asking a(notes_, kAnna);
      of(1).enter(a, 3);
      const bool died = killed(step, nth, [&] {
        Asking b(notes_, kBen);
        of(3).enter(b, 3);
        of(3).leave(b);
        of(3).reset(3);
      });
      if (died) world_.evict<WorldBarrier>(3);
      const bool hasEnded = notified() == Heard{admitted(a)};
      if (hasEnded) {
        EXPECT_TRUE(a.abandoned) << static_cast<int>(step);
      } else {
        EXPECT_FALSE(isBroken()) << static_cast<int>(step);
        of(1).leave(a);
      }
    }
  }
}

}  // namespace
}  // namespace boxoffice::test
