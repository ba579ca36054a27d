// Thefts of a read-write lock of processes, step by step.
#include "host_lock_test.h"

namespace boxoffice::test {
namespace {

class HostTheftTest : public HostRWLockFixture {
 protected:
  host::RWLockSlot& slot() { return world_.at<host::RWLockSlot>(0); }

  /// In at once.
  std::uint32_t take(ProcessSlot process, AgentId who, std::uint32_t ask) {
    Asking w(notes_, who, ask);
    EXPECT_TRUE(of(process).enter(w));
    return w.era;
  }
  std::uint32_t steal(ProcessSlot process, AgentId who) {
    Asking w(notes_, who, kWrite);
    of(process).steal(w);
    EXPECT_TRUE(of(process).isWrittenBy(who));
    return w.era;
  }
};

TEST_F(HostTheftTest, OfAWriter) {
  const std::uint32_t robbed = take(1, kAnna, kWrite);
  EXPECT_FALSE(of(1).isLost(robbed));
  Asking next(notes_, kBen, kWrite);
  EXPECT_FALSE(of(2).enter(next));
  const std::uint32_t thief = steal(3, kCleo);
  EXPECT_TRUE(world_.notified(1));
  EXPECT_FALSE(of(1).takeTheft());
  EXPECT_TRUE(of(1).isLost(robbed));
  EXPECT_TRUE(of(1).takeTheft());
  EXPECT_FALSE(of(1).takeTheft());
  EXPECT_FALSE(of(1).endWrite(kAnna, robbed)) << "too late";
  EXPECT_FALSE(of(1).abandon(kAnna));
  EXPECT_EQ(faultOf([&] { of(1).unlockWrite(kAnna); }), Fault::notHolder);
  EXPECT_EQ(notified(), Heard{}) << "who waits keeps waiting";
  EXPECT_FALSE(of(3).isLost(thief));
  EXPECT_TRUE(of(3).endWrite(kCleo, thief));
  EXPECT_EQ(notified(), Heard{admitted(next)});
  EXPECT_FALSE(next.abandoned);
  EXPECT_TRUE(of(2).endWrite(kBen, next.era));
  expectPristine();
}

TEST_F(HostTheftTest, ALateReleaseEndsNoNewerGrantOfTheSameAgent) {
  const std::uint32_t robbed = take(1, kAnna, kWrite);
  EXPECT_TRUE(of(2).endWrite(kBen, steal(2, kBen)));
  const std::uint32_t again = take(1, kAnna, kWrite);
  EXPECT_TRUE(of(1).isLost(robbed));
  EXPECT_FALSE(of(1).endWrite(kAnna, robbed));
  EXPECT_TRUE(of(1).isWrittenBy(kAnna));
  EXPECT_TRUE(of(1).endWrite(kAnna, again));

  const std::uint32_t read = take(1, kAnna, kRead);
  EXPECT_TRUE(of(2).endWrite(kBen, steal(2, kBen)));
  const std::uint32_t anew = take(1, kBen, kRead);
  EXPECT_FALSE(of(1).endRead(read));
  EXPECT_FALSE(of(2).tryLockWrite(kCleo)) << "1 reads";
  EXPECT_TRUE(of(1).endRead(anew));
  expectPristine();
}

TEST_F(HostTheftTest, OfReadersHereAndThere) {
  const std::uint32_t here = take(1, kAnna, kRead);
  const std::uint32_t there = take(2, kBen, kRead);
  const std::uint32_t too = take(2, kCleo, kRead);
  const std::uint32_t thief = steal(1, kAnna);
  EXPECT_TRUE(world_.notified(1)) << "its agents are to be told";
  EXPECT_TRUE(world_.notified(2));
  EXPECT_TRUE(of(1).isLost(here));
  EXPECT_TRUE(of(2).isLost(there));
  EXPECT_EQ(of(2).readers(), 0U);
  EXPECT_FALSE(of(2).endRead(there));
  EXPECT_FALSE(of(2).endRead(too));
  EXPECT_FALSE(of(1).endRead(here));
  EXPECT_TRUE(of(1).endWrite(kAnna, thief));
  expectPristine();
}

TEST_F(HostTheftTest, OfOneself) {
  const std::uint32_t first = take(1, kAnna, kWrite);
  const std::uint32_t second = steal(1, kAnna);
  EXPECT_TRUE(of(1).isLost(first));
  EXPECT_FALSE(of(1).endWrite(kAnna, first));
  EXPECT_TRUE(of(1).endWrite(kAnna, second));
  expectPristine();
}

TEST_F(HostTheftTest, OfNobody) {
  const std::uint32_t era = steal(1, kAnna);
  EXPECT_TRUE(of(1).endWrite(kAnna, era));
  expectPristine();
}

TEST_F(HostTheftTest, ATurnThatWasWaitedInComesBackFirst) {
  take(1, kAnna, kRead);
  Asking writer(notes_, kBen, kWrite);
  Asking behind(notes_, kCleo, kWrite);
  EXPECT_FALSE(of(2).enter(writer));
  EXPECT_FALSE(of(3).enter(behind));
  ASSERT_TRUE(world_.owner().isUngiven(2));
  const std::uint32_t thief = steal(4, kAnna);
  EXPECT_EQ(world_.owner().head(), 2);
  EXPECT_EQ(notified(), Heard{});
  EXPECT_TRUE(of(4).endWrite(kAnna, thief));
  EXPECT_EQ(notified(), Heard{admitted(writer)});
  EXPECT_TRUE(of(2).endWrite(kBen, writer.era));
  EXPECT_EQ(notified(), Heard{admitted(behind)});
  EXPECT_TRUE(of(3).endWrite(kCleo, behind.era));
  expectPristine();
}

TEST_F(HostTheftTest, ATurnThatWasWaitedInIsNotForgottenWhereThereIsNoRoom) {
  take(1, kAnna, kRead);
  std::vector<std::unique_ptr<Asking>> waiting;
  for (ProcessSlot s = 2; s <= 7; ++s) {
    waiting.push_back(std::make_unique<Asking>(notes_, kBen, kWrite));
    EXPECT_FALSE(of(s).enter(*waiting.back()));
  }
  EXPECT_TRUE(of(8).endWrite(kAnna, steal(8, kAnna)));
  std::size_t in = 0;
  for (int round = 0; round < 6; ++round) {
    deliverAll();
    for (ProcessSlot s = 2; s <= 7; ++s) {
      if (of(s).isWrittenBy(kBen)) {
        EXPECT_TRUE(of(s).endWrite(kBen, waiting[s - 2U]->era));
        ++in;
        break;
      }
    }
  }
  EXPECT_EQ(in, 6U);
  expectPristine();
  EXPECT_EQ(notes_.take().size(), 6U);
}

TEST_F(HostTheftTest, WaitersOfARobbedProcessStandInLineAgain) {
  const std::uint32_t robbed = take(1, kAnna, kWrite);
  Asking own(notes_, kBen, kWrite);
  EXPECT_FALSE(of(1).enter(own));
  const std::uint32_t thief = steal(2, kCleo);
  EXPECT_EQ(notified(), Heard{});
  EXPECT_TRUE(of(1).isLost(robbed));
  EXPECT_TRUE(of(2).endWrite(kCleo, thief));
  EXPECT_EQ(notified(), Heard{admitted(own)});
  EXPECT_TRUE(of(1).endWrite(kBen, own.era));
  expectPristine();
}

TEST_F(HostTheftTest, AReaderGivesWayToAThiefThatItSeesAfterItsBit) {
  OwnerWord before;
  world_.meanwhile(Step::joined, [&] {
    before = world_.owner();
    slot().head.owner = before.ownedBy(5, kCleo).bits();
  });
  Asking reader(notes_, kBen, kRead);
  EXPECT_FALSE(of(2).enter(reader));
  EXPECT_FALSE(slot().readers.has(2));
  slot().head.owner = before.free().bits();
  world_.notifyAll();
  EXPECT_EQ(notified(), Heard{admitted(reader)});
  EXPECT_TRUE(of(2).endRead(reader.era));
  expectPristine();
}

TEST_F(HostTheftTest, AThiefIsRobbedBeforeItKnowsThatItIsIn) {
  take(1, kAnna, kRead);
  world_.meanwhile(Step::parted,
                   [&] { slot().head.owner = world_.owner().ownedBy(5, kCleo).bits(); });
  Asking w(notes_, kBen, kWrite);
  of(2).steal(w);
  EXPECT_TRUE(of(2).isLost(w.era));
  EXPECT_FALSE(of(2).endWrite(kBen, w.era));
  slot().head.owner = 0;
  expectPristine();
}

TEST_F(HostTheftTest, AThiefThatStoodStillRingsWhoWaitsForTheReaderThatItRobs) {
  take(1, kAnna, kRead);
  world_.meanwhile(Step::parted, [&] {
    // It has been robbed itself meanwhile, and 5 has ownership and waits for the readers.
    slot().head.owner = world_.owner().ownedBy(5, kNobody).bits();
    world_.deliver<WorldRWLock>(5);
  });
  Asking w(notes_, kBen, kWrite);
  of(2).steal(w);
  EXPECT_TRUE(world_.notified(5));
  slot().head.owner = 0;
  deliverAll();
  EXPECT_TRUE(of(2).isLost(w.era));
  expectPristine();
}

TEST_F(HostTheftTest, AThiefThatStoodStillTakesANewReadersBit) {
  const std::uint32_t late = take(1, kAnna, kRead);
  slot().readers.remove(1);
  world_.notify(1, 1);
  EXPECT_TRUE(of(2).tryLockWrite(kBen)) << "1 does not read any more";
  EXPECT_TRUE(of(1).isLost(late));
  EXPECT_FALSE(of(1).endRead(late));
  of(2).unlockWrite(kBen);
  expectPristine();
}

TEST_F(HostTheftTest, WhoWasToldOfADeathAndIsRobbedLeavesItToTheThief) {
  take(1, kAnna, kWrite);
  world_.evict<WorldRWLock>(1);
  Asking reader(notes_, kBen, kRead);
  ASSERT_TRUE(of(2).enter(reader));
  EXPECT_TRUE(reader.abandoned);
  Asking thief(notes_, kCleo, kWrite);
  of(3).steal(thief);
  EXPECT_TRUE(thief.abandoned);
  EXPECT_TRUE(of(3).endWrite(kCleo, thief.era));
  deliverAll();
  EXPECT_FALSE(of(4).lockWrite(kAnna).abandoned);
  of(4).unlockWrite(kAnna);
  expectPristine();
}

TEST_F(HostTheftTest, AThiefThatDiesHasDiedWriting) {
  const std::uint32_t robbed = take(1, kAnna, kWrite);
  steal(2, kBen);
  world_.evict<WorldRWLock>(2);
  deliverAll();
  EXPECT_TRUE(of(1).isLost(robbed));
  Asking next(notes_, kAnna, kWrite);
  ASSERT_TRUE(of(1).enter(next));
  EXPECT_TRUE(next.abandoned);
  EXPECT_TRUE(of(1).endWrite(kAnna, next.era));
  expectPristine();
}

TEST_F(HostTheftTest, WhoUpgradesIsNotRobbed) {
  of(1).lockRead(kAnna);
  of(2).lockRead(kBen);
  Asking up(notes_, kAnna);
  ASSERT_EQ(of(1).enterUpgrade(up), WorldRWLock::Upgrade::waiting);
  Asking thief(notes_, kCleo, kWrite);
  EXPECT_EQ(faultOf([&] { of(3).steal(thief); }), Fault::badArgument);
  of(2).unlockRead();
  EXPECT_EQ(notified(), Heard{admitted(up)});
  of(1).unlockWrite(kAnna);
  expectPristine();
}

}  // namespace
}  // namespace boxoffice::test
