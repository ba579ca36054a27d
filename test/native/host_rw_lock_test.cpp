// A read-write lock of scope host, step by step.
#include "host_lock_test.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using Upgrade = WorldRWLock::Upgrade;

using HostRWLockTest = HostRWLockFixture;

TEST_F(HostRWLockTest, ReadersShareAndAWriterIsAlone) {
  EXPECT_TRUE(of(1).lockRead(kAnna));
  EXPECT_TRUE(of(1).tryLockRead(kBen));
  EXPECT_TRUE(of(2).tryLockRead(kAnna));
  EXPECT_EQ(of(1).readers(), 3U);
  EXPECT_EQ(of(2).readers(), 2U) << "its own, and one process";
  EXPECT_FALSE(of(3).tryLockWrite(kCleo));
  of(1).unlockRead();
  of(1).unlockRead();
  EXPECT_EQ(faultOf([&] { of(1).unlockRead(); }), Fault::notHolder) << "what 2 reads is not ours";
  EXPECT_FALSE(of(3).tryLockWrite(kCleo));
  of(2).unlockRead();
  EXPECT_TRUE(of(3).tryLockWrite(kCleo));
  EXPECT_TRUE(of(1).isWritten());
  EXPECT_EQ(of(3).writer(), kCleo);
  EXPECT_NE(of(1).writer(), kCleo);
  EXPECT_FALSE(of(1).tryLockRead(kAnna));
  EXPECT_FALSE(of(1).tryLockWrite(kAnna));
  EXPECT_EQ(faultOf([&] { of(1).unlockWrite(kCleo); }), Fault::notHolder);
  EXPECT_EQ(faultOf([&] { of(3).unlockWrite(kAnna); }), Fault::notHolder);
  of(3).unlockWrite(kCleo);
  expectPristine();
}

TEST_F(HostRWLockTest, AWriterIsAdmittedThoughReadersKeepComing) {
  of(1).lockRead(kAnna);
  Asking writer(notes_, kBen, kWrite);
  EXPECT_FALSE(of(2).enter(writer));
  EXPECT_TRUE(world_.owner().isUngiven(2)) << "waits for ownership";
  Asking reader(notes_, kCleo, kRead);
  EXPECT_FALSE(of(3).enter(reader));
  Asking own(notes_, kBen, kRead);
  EXPECT_FALSE(of(1).enter(own)) << "one more reader of a process that reads";
  EXPECT_EQ(notified(), Heard{});
  of(1).unlockRead();
  EXPECT_EQ(notified(), Heard{admitted(writer)});
  of(2).unlockWrite(kBen);
  const Heard both = notified();
  EXPECT_EQ(both.size(), 2U) << "readers together";
  of(3).unlockRead();
  of(1).unlockRead();
  expectPristine();
}

TEST_F(HostRWLockTest, AWaiterThatLeavesAdmitsTheOnesItKeptOut) {
  of(1).lockRead(kAnna);
  Asking writer(notes_, kBen, kWrite);
  Asking behind(notes_, kCleo, kRead);
  Asking elsewhere(notes_, kCleo, kRead);
  EXPECT_FALSE(of(2).enter(writer));
  EXPECT_FALSE(of(2).enter(behind));
  EXPECT_FALSE(of(3).enter(elsewhere));
  EXPECT_EQ(of(2).leave(writer), Leave::left);
  EXPECT_EQ(notified().size(), 2U);
  of(2).unlockRead();
  of(3).unlockRead();
  of(1).unlockRead();
  expectPristine();
}

TEST_F(HostRWLockTest, UpgradesOnceTheOthersHaveGone) {
  of(1).lockRead(kAnna);
  of(2).lockRead(kBen);
  Asking up(notes_, kAnna);
  EXPECT_EQ(of(1).enterUpgrade(up), Upgrade::waiting);
  Asking second(notes_, kBen);
  EXPECT_EQ(of(2).enterUpgrade(second), Upgrade::refused);
  EXPECT_FALSE(of(3).tryLockRead(kCleo)) << "no new readers";
  Asking reader(notes_, kCleo, kRead);
  Asking writer(notes_, kCleo, kWrite);
  EXPECT_FALSE(of(3).enter(reader));
  EXPECT_FALSE(of(4).enter(writer));
  of(2).unlockRead();
  EXPECT_EQ(notified(), Heard{admitted(up)});
  EXPECT_EQ(of(1).writer(), kAnna);
  EXPECT_EQ(of(1).readers(), 0U);
  EXPECT_EQ(faultOf([&] { of(1).unlockRead(); }), Fault::notHolder);
  of(1).downgrade(kAnna);
  EXPECT_EQ(notified(), Heard{admitted(reader)});
  of(1).unlockRead();
  of(3).unlockRead();
  EXPECT_EQ(notified(), Heard{admitted(writer)});
  of(4).unlockWrite(kCleo);
  expectPristine();
}

TEST_F(HostRWLockTest, ARefusedUpgraderThatAsksToWriteQueuesBehindTheOthers) {
  of(1).lockRead(kAnna);
  of(2).lockRead(kBen);
  Asking up(notes_, kAnna);
  EXPECT_EQ(of(1).enterUpgrade(up), Upgrade::waiting);
  Asking writer(notes_, kCleo, kWrite);
  EXPECT_FALSE(of(2).enter(writer));
  Asking second(notes_, kBen);
  EXPECT_EQ(of(2).enterUpgrade(second), Upgrade::refused);
  second.ask = kWrite;
  EXPECT_FALSE(of(2).enter(second));
  of(2).unlockRead();
  EXPECT_EQ(notified(), Heard{admitted(up)});
  of(1).unlockWrite(kAnna);
  EXPECT_EQ(notified(), Heard{admitted(writer)});
  of(2).unlockWrite(kCleo);
  EXPECT_EQ(notified(), Heard{admitted(second)});
  of(2).unlockWrite(kBen);
  expectPristine();
}

TEST_F(HostRWLockTest, AnUpgradeIsGivenUp) {
  of(1).lockRead(kAnna);
  of(2).lockRead(kBen);
  Asking up(notes_, kAnna);
  EXPECT_EQ(of(1).enterUpgrade(up), Upgrade::waiting);
  Asking reader(notes_, kCleo, kRead);
  EXPECT_FALSE(of(3).enter(reader));
  EXPECT_EQ(of(1).leave(up), Leave::left);
  EXPECT_EQ(notified(), Heard{admitted(reader)});
  Asking late(notes_, kAnna);
  EXPECT_EQ(of(1).upgradeBlocking(late, Deadline::min()), Upgrade::late);
  Asking noAgent(notes_, kAnna);
  EXPECT_EQ(faultOf([&] { of(4).enterUpgrade(noAgent); }), Fault::notHolder);
  of(2).unlockRead();
  of(3).unlockRead();
  EXPECT_TRUE(of(1).upgrade(kAnna));
  of(1).unlockWrite(kAnna);
  expectPristine();
}

TEST_F(HostRWLockTest, UpgradesWithinAProcess) {
  of(1).lockRead(kAnna);
  of(1).lockRead(kBen);
  Asking up(notes_, kAnna);
  EXPECT_EQ(of(1).enterUpgrade(up), Upgrade::waiting);
  Asking reader(notes_, kCleo, kRead);
  EXPECT_FALSE(of(1).enter(reader));
  of(1).unlockRead(kBen);
  EXPECT_EQ(notified(), Heard{admitted(up)});
  of(1).unlockWrite(kAnna);
  EXPECT_EQ(notified(), Heard{admitted(reader)});
  of(1).unlockRead();
  expectPristine();
}

TEST_F(HostRWLockTest, AReaderGivesWayToAClaimThatItSeesAfterItsBit) {
  auto& upgrader = world_.at<host::RWLockSlot>(0).upgrader;
  of(1).lockRead(kAnna);
  world_.meanwhile(Step::joined, [&] { upgrader = kAnna << 8 | 1; });
  Asking reader(notes_, kBen, kRead);
  EXPECT_FALSE(of(2).enter(reader));
  EXPECT_FALSE(world_.at<host::RWLockSlot>(0).readers.has(2));
  EXPECT_TRUE(world_.notified(1)) << "it may have seen the bit";
  upgrader = 0;
  world_.notifyAll();
  EXPECT_EQ(notified(), Heard{admitted(reader)});
  of(2).unlockRead();
  of(1).unlockRead();
  expectPristine();
}

TEST_F(HostRWLockTest, AWriterBecomesAReader) {
  of(1).lockWrite(kAnna);
  Asking reader(notes_, kBen, kRead);
  Asking writer(notes_, kCleo, kWrite);
  EXPECT_FALSE(of(2).enter(reader));
  EXPECT_FALSE(of(3).enter(writer));
  EXPECT_EQ(faultOf([&] { of(2).downgrade(kAnna); }), Fault::notHolder);
  of(1).downgrade(kAnna);
  EXPECT_EQ(notified(), Heard{admitted(reader)});
  of(1).unlockRead();
  of(2).unlockRead();
  EXPECT_EQ(notified(), Heard{admitted(writer)});
  of(3).unlockWrite(kCleo);
  expectPristine();
}

TEST_F(HostRWLockTest, SurvivesThreadsThatDie) {
  of(1).lockWrite(kAnna);
  EXPECT_FALSE(of(1).abandon(kBen));
  EXPECT_TRUE(of(1).abandon(kAnna));
  EXPECT_TRUE(of(2).lockRead(kBen).abandoned);
  EXPECT_FALSE(of(2).lockRead(kBen).abandoned);
  EXPECT_EQ(of(2).abandonReads(5), 2U);
  of(2).lockRead(kBen);
  EXPECT_TRUE(of(2).upgrade(kBen));
  EXPECT_EQ(of(2).abandonReads(1), 0U) << "it is written";
  EXPECT_TRUE(of(2).abandon(kBen));
  EXPECT_TRUE(of(1).lockWrite(kAnna).abandoned);
  of(1).downgrade(kAnna, true);
  of(1).abandonReads(1, true);
  EXPECT_TRUE(of(3).tryLockWrite(kCleo).abandoned);
  of(3).unlockWrite(kCleo);
  expectPristine();
}

TEST_F(HostRWLockTest, ProcessesThatDie) {
  Asking next(notes_, kBen, kWrite);
  of(1).lockWrite(kAnna);
  EXPECT_FALSE(of(2).enter(next));
  world_.evict<WorldRWLock>(1);
  EXPECT_EQ(notified(), Heard{admitted(next)});
  EXPECT_TRUE(next.abandoned);
  of(2).unlockWrite(kBen);

  of(3).lockRead(kCleo);
  EXPECT_FALSE(of(2).enter(next));
  world_.evict<WorldRWLock>(3);
  EXPECT_EQ(notified(), Heard{admitted(next)});
  EXPECT_FALSE(next.abandoned) << "a reader has left nothing half written";
  of(2).unlockWrite(kBen);

  of(4).lockRead(kCleo);
  EXPECT_TRUE(of(4).upgrade(kCleo));
  EXPECT_FALSE(of(2).enter(next));
  world_.evict<WorldRWLock>(4);
  world_.evict<WorldRWLock>(4);
  EXPECT_EQ(notified(), Heard{admitted(next)});
  EXPECT_TRUE(next.abandoned);
  of(2).unlockWrite(kBen);

  of(1).lockWrite(kAnna);
  world_.evict<WorldRWLock>(1);
  EXPECT_TRUE(of(3).lockRead(kCleo).abandoned);
  world_.evict<WorldRWLock>(3);
  EXPECT_TRUE(of(4).lockRead(kCleo).abandoned) << "the writer that was told has died, too";
  of(4).unlockRead();
  EXPECT_FALSE(of(4).lockRead(kCleo).abandoned);
  of(4).unlockRead();
  expectPristine();

  // Two deaths: a reader whose upgrade blocked others, and a writer in the hand-off queue.
  of(5).lockRead(kCleo);
  of(6).lockRead(kCleo);
  Asking up(notes_, kCleo);
  EXPECT_EQ(of(5).enterUpgrade(up), Upgrade::waiting);
  Asking writer(notes_, kAnna, kWrite);
  EXPECT_FALSE(of(7).enter(writer));
  Asking reader(notes_, kBen, kRead);
  EXPECT_FALSE(of(2).enter(reader));
  world_.evict<WorldRWLock>(7);
  world_.evict<WorldRWLock>(5);
  deliverAll();
  EXPECT_FALSE(of(2).isQueued(kBen)) << "reads beside 6";
  of(2).unlockRead();
  of(6).unlockRead();
  of(7).leave(writer);  // frees the test's waiter: the dead process's memory is still mapped here
  of(5).leave(up);
}

TEST_F(HostRWLockTest, ADeathIsToldAfterTheDeathsOfTwoReadersThatWereTold) {
  of(1).lockWrite();
  world_.evict<WorldRWLock>(1);
  EXPECT_TRUE(of(2).tryLockRead().abandoned);
  world_.meanwhile(Step::cleaned, [&] { EXPECT_TRUE(of(3).tryLockRead().abandoned); });
  world_.evict<WorldRWLock>(2);
  world_.evict<WorldRWLock>(3);
  EXPECT_TRUE(of(4).tryLockWrite().abandoned);
  of(4).unlockWrite();
  expectPristine();
}

TEST_F(HostRWLockTest, UpgradeTakesOverTheClaimOfADeadProcess) {
  of(1).lockRead(kAnna);
  of(1).lockRead(kCleo);
  of(2).lockRead(kBen);
  Asking doomed(notes_, kBen);
  EXPECT_EQ(of(2).enterUpgrade(doomed), Upgrade::waiting);
  Asking up(notes_, kAnna);
  EXPECT_EQ(of(1).enterUpgrade(up), Upgrade::refused) << "it lives";
  Asking late(notes_, kAnna);
  EXPECT_EQ(of(1).upgradeBlocking(late, Deadline::min()), Upgrade::refused);

  world_.setDead(2, true);
  EXPECT_EQ(of(1).upgradeBlocking(late, Deadline::min()), Upgrade::late);
  EXPECT_EQ(of(1).enterUpgrade(up), Upgrade::waiting) << "the dead process's reader is still there";
  Asking second(notes_, kCleo);
  EXPECT_EQ(of(1).enterUpgrade(second), Upgrade::refused);
  of(1).unlockRead();
  EXPECT_EQ(notified(), Heard{});
  world_.evict<WorldRWLock>(2);
  EXPECT_EQ(notified(), Heard{admitted(up)});
  EXPECT_FALSE(up.abandoned) << "an upgrade that waited has left nothing half written";
  of(1).unlockWrite(kAnna);
  expectPristine();
  of(2).leave(doomed);  // frees the test's waiter: the dead process's memory is still mapped here
}

TEST_F(HostRWLockTest, UpgradeGetsTheClaimThatIsClearedWhileItAsks) {
  of(1).lockRead(kAnna);
  of(2).lockRead(kBen);
  auto& upgrader = world_.at<host::RWLockSlot>(0).upgrader;
  upgrader = kBen << 8 | 2;
  world_.onAsked([&] { world_.evict<WorldRWLock>(2); });
  Asking up(notes_, kAnna);
  EXPECT_EQ(of(1).enterUpgrade(up), Upgrade::granted);
  of(1).unlockWrite(kAnna);
  expectPristine();
}

TEST_F(HostRWLockTest, CleaningUpLeavesAClaimThatWasTakenOver) {
  of(1).lockRead(kAnna);
  of(2).lockRead(kBen);
  auto& upgrader = world_.at<host::RWLockSlot>(0).upgrader;
  upgrader = kBen << 8 | 2;
  world_.setDead(2, true);
  Asking up(notes_, kAnna);
  world_.meanwhile(Step::cleaned, [&] { EXPECT_EQ(of(1).enterUpgrade(up), Upgrade::waiting); });
  world_.evict<WorldRWLock>(2);
  EXPECT_EQ(notified(), Heard{admitted(up)});
  of(1).unlockWrite(kAnna);
  expectPristine();
}

}  // namespace
}  // namespace boxoffice::test
