// Readers, writers, upgrades and downgrades.
#include "rw_lock_fixture.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using P = FakeClockPlatform;
using Upgrade = BasicRWLock<P>::Upgrade;

class RWLockTest : public RWLockFixture {};

TEST_F(RWLockTest, ReadersShareAndWritersAreAlone) {
  EXPECT_TRUE(lock_.lockRead());
  EXPECT_TRUE(lock_.tryLockRead());
  EXPECT_TRUE(lock_.lockReadUntil(Deadline::min()));
  EXPECT_EQ(lock_.readers(), 3U);
  EXPECT_EQ(lock_.writer(), kNoAgent);
  EXPECT_FALSE(lock_.tryLockWrite(kAnna));
  EXPECT_FALSE(lock_.lockWriteUntil(Deadline::min(), kAnna));
  unread(3);

  EXPECT_TRUE(lock_.lockWrite(kAnna));
  EXPECT_EQ(lock_.readers(), 0U);
  EXPECT_EQ(lock_.writer(), kAnna);
  EXPECT_FALSE(lock_.tryLockRead());
  EXPECT_FALSE(lock_.lockReadUntil(Deadline::min()));
  EXPECT_FALSE(lock_.tryLockWrite(kBen));
  lock_.unlockWrite(kAnna);
  EXPECT_TRUE(lock_.tryLockWrite(kMaxAgent));
  EXPECT_EQ(lock_.writer(), kMaxAgent);
  lock_.unlockWrite(kMaxAgent);
}

TEST_F(RWLockTest, UnlockingALockThatIsNotHeldIsMisuse) {
  EXPECT_EQ(faultOf([&] { lock_.unlockRead(); }), Fault::notHolder);
  EXPECT_EQ(faultOf([&] { lock_.unlockWrite(kAnna); }), Fault::notHolder);
  EXPECT_EQ(faultOf([&] { lock_.unlockWrite(kNoAgent); }), Fault::notHolder);
  EXPECT_EQ(faultOf([&] { lock_.downgrade(kAnna); }), Fault::notHolder);
  EXPECT_EQ(faultOf([&] { lock_.upgrade(kAnna); }), Fault::notHolder);
  read(1);
  EXPECT_EQ(faultOf([&] { lock_.unlockWrite(kAnna); }), Fault::notHolder);
  EXPECT_EQ(faultOf([&] { lock_.downgrade(kAnna); }), Fault::notHolder);
  EXPECT_EQ(lock_.readers(), 1U);
  unread(1);
  lock_.lockWrite(kAnna);
  EXPECT_EQ(faultOf([&] { lock_.unlockRead(); }), Fault::notHolder);
  EXPECT_EQ(faultOf([&] { lock_.unlockWrite(kBen); }), Fault::notHolder);
  EXPECT_EQ(faultOf([&] { lock_.downgrade(kBen); }), Fault::notHolder);
  EXPECT_EQ(faultOf([&] { lock_.upgrade(kAnna); }), Fault::notHolder);
  EXPECT_EQ(lock_.writer(), kAnna);
  lock_.unlockWrite(kAnna);
}

TEST_F(RWLockTest, AQueuedWriterKeepsLaterReadersOut) {
  read(2);
  Asking writer(loop_, kAnna, kWrite);
  Asking reader(loop_, kBen, kRead);
  EXPECT_FALSE(lock_.enter(writer));
  EXPECT_FALSE(lock_.tryLockRead()) << "writers do not starve";
  EXPECT_FALSE(lock_.enter(reader));
  unread(1);
  EXPECT_EQ(loop_.take(), Heard{});
  P::pass(kPatience);
  unread(1);
  EXPECT_EQ(loop_.take(), Heard{admitted(writer)});
  EXPECT_EQ(lock_.writer(), kAnna);
  EXPECT_FALSE(lock_.tryLockWrite(kCleo)) << "nor do readers";
  P::pass(kPatience);
  lock_.unlockWrite(kAnna);
  EXPECT_EQ(loop_.take(), Heard{admitted(reader)});
  EXPECT_EQ(lock_.readers(), 1U);
  unread(1);
}

TEST_F(RWLockTest, ReadersAndWritersAreAdmittedInTheOrderTheyCame) {
  lock_.lockWrite(kAnna);
  Asking w[] = {{loop_, kBen, kRead},  {loop_, kBen, kRead}, {loop_, kBen, kWrite},
                {loop_, kBen, kWrite}, {loop_, kBen, kRead}, {loop_, kBen, kRead}};
  for (Waiter& waiter : w) lock_.enter(waiter);
  P::pass(kPatience);
  lock_.unlockWrite(kAnna);
  EXPECT_EQ(loop_.take(), (Heard{admitted(w[0]), admitted(w[1])}));
  EXPECT_EQ(lock_.readers(), 2U);
  unread(1);
  EXPECT_EQ(loop_.take(), Heard{});
  unread(1);
  EXPECT_EQ(loop_.take(), Heard{admitted(w[2])});
  lock_.unlockWrite(kBen);
  EXPECT_EQ(loop_.take(), Heard{admitted(w[3])});
  lock_.unlockWrite(kBen);
  EXPECT_EQ(loop_.take(), (Heard{admitted(w[4]), admitted(w[5])}));
  unread(2);
}

TEST_F(RWLockTest, AWriterThatLeavesAdmitsTheReadersBehindIt) {
  read(1);
  Asking writer(loop_, kAnna, kWrite);
  Asking readers[] = {{loop_, kBen, kRead}, {loop_, kCleo, kRead}};
  lock_.enter(writer);
  for (Waiter& w : readers) lock_.enter(w);
  EXPECT_EQ(lock_.leave(writer), Leave::left);
  EXPECT_EQ(loop_.take(), (Heard{admitted(readers[0]), admitted(readers[1])}));
  EXPECT_EQ(lock_.readers(), 3U);
  EXPECT_EQ(faultOf([&] { lock_.leave(writer); }), Fault::notWaiting);
  unread(3);
}

// Without barging, every acquisition after a queue has formed would cost a wake-up (a lock convoy).
TEST_F(RWLockTest, ANewcomerGetsAFreeLockWithinThePatienceOfTheHead) {
  read(1);
  Asking writer(loop_, kAnna, kWrite);
  Asking reader(loop_, kBen, kRead);
  EXPECT_FALSE(lock_.enter(writer));
  EXPECT_FALSE(lock_.enter(reader));
  unread(1);
  EXPECT_EQ(loop_.take(), Heard{invited(writer)});
  EXPECT_TRUE(lock_.tryLockRead());
  EXPECT_FALSE(lock_.tryLockRead()) << "read, so not free: the line has it next";
  EXPECT_FALSE(lock_.resume(writer, Wake::invited)) << "too late: it keeps its place";
  unread(1);
  EXPECT_EQ(loop_.take(), Heard{invited(writer)});
  EXPECT_TRUE(lock_.tryLockWrite(kCleo));
  P::pass(kPatience);
  EXPECT_FALSE(lock_.resume(writer, Wake::invited));
  lock_.unlockWrite(kCleo);
  EXPECT_EQ(lock_.writer(), kAnna) << "its patience is over: the lock was handed to it";
  EXPECT_FALSE(lock_.tryLockWrite(kCleo));
  EXPECT_EQ(loop_.take(), Heard{admitted(writer)});
  lock_.unlockWrite(kAnna);
  EXPECT_EQ(loop_.take(), Heard{invited(reader)});
  EXPECT_TRUE(lock_.resume(reader, Wake::invited));
  unread(1);
}

TEST_F(RWLockTest, AnInvitedReaderBringsTheReadersBehindIt) {
  lock_.lockWrite(kCleo);
  Asking first(loop_, kAnna, kRead);
  Asking second(loop_, kBen, kRead);
  EXPECT_FALSE(lock_.enter(first));
  EXPECT_FALSE(lock_.enter(second));
  lock_.unlockWrite(kCleo);
  EXPECT_EQ(loop_.take(), Heard{invited(first)});
  EXPECT_TRUE(lock_.resume(first, Wake::invited));
  EXPECT_EQ(loop_.take(), Heard{admitted(second)});
  EXPECT_EQ(lock_.readers(), 2U);
  unread(2);
}

TEST_F(RWLockTest, AHigherPriorityReaderPassesAWaitingWriter) {
  read(1);
  Asking writer(loop_, kAnna, kWrite);
  Asking urgent(loop_, kBen, kRead, 1);
  EXPECT_FALSE(lock_.enter(writer));
  EXPECT_TRUE(lock_.enter(urgent));
  P::pass(kPatience);
  unread(2);
  EXPECT_EQ(loop_.take(), Heard{admitted(writer)});
  lock_.unlockWrite(kAnna);
}

TEST_F(RWLockTest, BlockedReadersAndWritersAreAdmittedInOrder) {
  read(1);
  std::vector<char> order;
  std::thread writer([&] {
    EXPECT_TRUE(lock_.lockWrite());
    order.push_back('w');
    lock_.unlockWrite();
  });
  awaitQueue<P>(&lock_, 1);
  std::thread reader([&] {
    EXPECT_TRUE(lock_.lockRead());
    order.push_back('r');
    lock_.unlockRead();
  });
  awaitQueue<P>(&lock_, 2);
  unread(1);
  writer.join();
  reader.join();
  EXPECT_EQ(order, (std::vector{'w', 'r'}));
}

TEST_F(RWLockTest, TheReaderAboveTheMaximumWaits) {
  constexpr std::uint32_t kMost = (1U << 26) - 1;
  const auto word = wordOf(lock_);
  read(1);
  word.store((kMost - 1) * word.load());
  EXPECT_EQ(lock_.readers(), kMost - 1);
  EXPECT_TRUE(lock_.tryLockRead());
  EXPECT_EQ(lock_.readers(), kMost);
  EXPECT_FALSE(lock_.tryLockRead());
  EXPECT_FALSE(lock_.lockReadUntil(Deadline::min()));
  Asking one(loop_, kAnna, kRead);
  Asking two(loop_, kBen, kRead);
  EXPECT_FALSE(lock_.enter(one));
  EXPECT_FALSE(lock_.enter(two));
  EXPECT_EQ(lock_.readers(), kMost);
  EXPECT_EQ(lock_.writer(), kNoAgent);
  EXPECT_FALSE(lock_.tryLockWrite(kAnna));
  unread(1);
  EXPECT_EQ(loop_.take(), Heard{admitted(one)});
  EXPECT_EQ(lock_.readers(), kMost);
  EXPECT_EQ(lock_.leave(two), Leave::left);
  word.store(0);
}

TEST_F(RWLockTest, DowngradeAdmitsReadersButNoWriter) {
  lock_.lockWrite(kAnna);
  Asking w[] = {{loop_, kBen, kRead}, {loop_, kBen, kWrite}, {loop_, kBen, kRead}};
  for (Waiter& waiter : w) lock_.enter(waiter);
  P::pass(kPatience);
  lock_.downgrade(kAnna);
  EXPECT_EQ(loop_.take(), Heard{admitted(w[0])});
  EXPECT_EQ(lock_.readers(), 2U);
  unread(2);
  EXPECT_EQ(loop_.take(), Heard{admitted(w[1])});
  lock_.unlockWrite(kBen);
  EXPECT_EQ(loop_.take(), Heard{admitted(w[2])});
  unread(1);

  lock_.lockWrite(kAnna);
  lock_.downgrade(kAnna);
  EXPECT_TRUE(lock_.tryLockRead());
  EXPECT_EQ(lock_.readers(), 2U);
  unread(2);
}

TEST_F(RWLockTest, TheOnlyReaderUpgradesAtOnceEvenPastAQueue) {
  read(1);
  EXPECT_TRUE(lock_.upgrade(kAnna));
  EXPECT_EQ(lock_.writer(), kAnna);
  Asking writer(loop_, kBen, kWrite);
  lock_.enter(writer);
  lock_.downgrade(kAnna);
  EXPECT_TRUE(lock_.upgradeUntil(Deadline::min(), kAnna));
  EXPECT_EQ(lock_.writer(), kAnna);
  EXPECT_EQ(loop_.take(), Heard{});
  P::pass(kPatience);
  lock_.unlockWrite(kAnna);
  EXPECT_EQ(loop_.take(), Heard{admitted(writer)});
  lock_.unlockWrite(kBen);
}

TEST_F(RWLockTest, AnUpgradeWaitsForTheOtherReadersAheadOfTheQueue) {
  read(3);
  Asking writer(loop_, kBen, kWrite, 5);
  Waiter upgrader(loop_, kAnna);
  lock_.enter(writer);
  EXPECT_EQ(lock_.enterUpgrade(upgrader), Upgrade::waiting);
  EXPECT_FALSE(lock_.tryLockRead());
  Asking urgent(loop_, kCleo, kRead, 9);
  EXPECT_FALSE(lock_.enter(urgent)) << "no new readers, whatever their priority";
  unread(1);
  EXPECT_EQ(loop_.take(), Heard{});
  unread(1);
  EXPECT_EQ(loop_.take(), Heard{admitted(upgrader)});
  EXPECT_TRUE(lock_.resume(upgrader, Wake::admitted));
  EXPECT_EQ(lock_.writer(), kAnna);
  P::pass(kPatience);
  lock_.unlockWrite(kAnna);
  EXPECT_EQ(loop_.take(), Heard{admitted(urgent)});
  P::pass(kPatience);
  unread(1);
  EXPECT_EQ(loop_.take(), Heard{admitted(writer)});
  lock_.unlockWrite(kBen);
}

TEST_F(RWLockTest, TheSecondUpgraderIsRefusedAndReadsOn) {
  read(2);
  Waiter first(loop_, kAnna);
  Waiter second(loop_, kBen);
  EXPECT_EQ(lock_.enterUpgrade(first), Upgrade::waiting);
  EXPECT_EQ(lock_.enterUpgrade(second), Upgrade::refused);
  EXPECT_FALSE(lock_.upgrade(kBen));
  EXPECT_EQ(queueSizeAt<P>(&lock_), 1U);
  EXPECT_EQ(lock_.readers(), 2U);
  unread(1);
  EXPECT_EQ(loop_.take(), Heard{admitted(first)});
  lock_.unlockWrite(kAnna);
}

TEST_F(RWLockTest, ARefusedUpgraderThatAsksToWriteQueuesBehindTheOthers) {
  read(2);
  Waiter first(loop_, kAnna);
  Waiter second(loop_, kBen);
  Asking writer(loop_, kCleo, kWrite);
  EXPECT_EQ(lock_.enterUpgrade(first), Upgrade::waiting);
  EXPECT_FALSE(lock_.enter(writer));
  EXPECT_EQ(lock_.enterUpgrade(second), Upgrade::refused);
  second.ask = kWrite;
  EXPECT_FALSE(lock_.enter(second));
  unread(1);
  EXPECT_EQ(loop_.take(), Heard{admitted(first)});
  P::pass(kPatience);
  lock_.unlockWrite(kAnna);
  EXPECT_EQ(loop_.take(), Heard{admitted(writer)});
  P::pass(kPatience);
  lock_.unlockWrite(kCleo);
  EXPECT_EQ(loop_.take(), Heard{admitted(second)});
  lock_.unlockWrite(kBen);
}

TEST_F(RWLockTest, AnUpgradeGivenUpAdmitsReadersAndAnotherUpgrade) {
  read(2);
  Waiter first(loop_, kAnna);
  Asking reader(loop_, kCleo, kRead);
  EXPECT_EQ(lock_.enterUpgrade(first), Upgrade::waiting);
  lock_.enter(reader);
  EXPECT_EQ(lock_.leave(first), Leave::left);
  EXPECT_EQ(loop_.take(), Heard{admitted(reader)});
  EXPECT_EQ(lock_.readers(), 3U);
  EXPECT_FALSE(lock_.upgradeUntil(Deadline::min(), kBen));
  EXPECT_EQ(lock_.readers(), 3U);
  unread(2);
  EXPECT_TRUE(lock_.upgrade(kBen));
  lock_.unlockWrite(kBen);
}

TEST_F(RWLockTest, AReaderThatLeavesItsUpgradeTooLateWrites) {
  read(2);
  Waiter w(loop_, kAnna);
  lock_.enterUpgrade(w);
  unread(1);
  EXPECT_EQ(lock_.leave(w), Leave::admitted);
  EXPECT_EQ(lock_.writer(), kAnna);
  lock_.unlockWrite(kAnna);
}

TEST_F(RWLockTest, ABlockedThreadUpgradesWhenTheOthersHaveLeft) {
  read(1);
  std::thread upgrader([&] {
    lock_.lockRead();
    EXPECT_TRUE(lock_.upgrade());
    EXPECT_EQ(lock_.writer(), thisThread());
    lock_.unlockWrite();
  });
  awaitQueue<P>(&lock_, 1);
  unread(1);
  upgrader.join();
}

TEST_F(RWLockTest, AbandonTellsTheNextHolder) {
  EXPECT_FALSE(lock_.abandon(kAnna));
  EXPECT_FALSE(lock_.abandon(kNoAgent));
  lock_.lockWrite(kAnna);
  EXPECT_FALSE(lock_.abandon(kBen));
  EXPECT_TRUE(lock_.abandon(kAnna));
  EXPECT_EQ(lock_.writer(), kNoAgent);
  EXPECT_TRUE(lock_.lockRead().abandoned);
  EXPECT_FALSE(lock_.lockRead().abandoned);
  unread(2);

  lock_.lockWrite(kAnna);
  Asking writer(loop_, kBen, kWrite);
  lock_.enter(writer);
  P::pass(kPatience);
  EXPECT_TRUE(lock_.abandon(kAnna));
  EXPECT_EQ(loop_.take(), Heard{admitted(writer)});
  EXPECT_TRUE(writer.abandoned);
  lock_.unlockWrite(kBen);
  EXPECT_FALSE(lock_.lockWrite(kCleo).abandoned);
  lock_.unlockWrite(kCleo);
}

}  // namespace
}  // namespace boxoffice::test
