// The parts of a read-write lock that a JavaScript environment needs: a dead agent's reads are given back, its
// waits end together, no report of a death is lost, and an agent's own waiters may go first.
#include "rw_lock_fixture.h"
#include "stress.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using P = FakeClockPlatform;
using Upgrade = BasicRWLock<P>::Upgrade;

class RWLockGrantsTest : public RWLockFixture {
 protected:
  /// Calls leaveAll, and returns the waiters that it reported.
  std::vector<std::pair<Waiter*, Leave>> leaveAll(AgentId agent) {
    std::vector<std::pair<Waiter*, Leave>> gone;
    lock_.leaveAll(agent, [&gone](Waiter& w, Leave how) { gone.emplace_back(&w, how); });
    return gone;
  }
};

TEST_F(RWLockGrantsTest, AbandonReadsGivesBackSoManyAndNoneOfAWriter) {
  read(3);
  lock_.abandonReads(2);
  EXPECT_EQ(lock_.readers(), 1U);
  lock_.abandonReads(0);
  EXPECT_EQ(lock_.readers(), 1U);
  lock_.abandonReads(5);
  EXPECT_EQ(wordOf(lock_).load(), 0U);
  lock_.lockWrite(kMaxAgent);
  lock_.abandonReads(5);
  EXPECT_EQ(lock_.writer(), kMaxAgent);
  lock_.unlockWrite(kMaxAgent);
}

TEST_F(RWLockGrantsTest, AbandonReadsAdmitsTheWaitersThatFitThen) {
  read(3);
  Asking writer(loop_, kAnna, kWrite);
  Asking reader(loop_, kBen, kRead);
  lock_.enter(writer);
  lock_.enter(reader);
  P::pass(kPatience);
  lock_.abandonReads(2);
  EXPECT_EQ(loop_.take(), Heard{});
  lock_.abandonReads(1);
  EXPECT_EQ(loop_.take(), Heard{admitted(writer)});
  EXPECT_FALSE(writer.abandoned) << "a reader leaves nothing half written";
  P::pass(kPatience);
  lock_.unlockWrite(kAnna);
  EXPECT_EQ(loop_.take(), Heard{admitted(reader)});
  unread(1);
}

TEST_F(RWLockGrantsTest, AbandonReadsMayPassTheNewsOfADeathOn) {
  read(2);
  lock_.abandonReads(1, true);
  EXPECT_EQ(lock_.readers(), 1U);
  EXPECT_TRUE(lock_.lockRead().abandoned);
  EXPECT_FALSE(lock_.lockRead().abandoned);
  unread(2);
  lock_.abandonReads(1, true);
  EXPECT_TRUE(lock_.tryLockWrite(kAnna).abandoned);
  lock_.unlockWrite(kAnna);
}

TEST_F(RWLockGrantsTest, AnUpgradingReaderIsToldOfADeath) {
  read(1);
  lock_.abandonReads(0, true);
  EXPECT_TRUE(lock_.upgrade(kAnna).abandoned);
  lock_.downgrade(kAnna);
  EXPECT_FALSE(lock_.upgrade(kAnna).abandoned);
  lock_.unlockWrite(kAnna);
  read(2);
  Waiter upgrader(loop_, kBen);
  EXPECT_EQ(lock_.enterUpgrade(upgrader), Upgrade::waiting);
  lock_.abandonReads(1, true);
  EXPECT_EQ(loop_.take(), Heard{admitted(upgrader)});
  EXPECT_TRUE(upgrader.abandoned);
  lock_.unlockWrite(kBen);
}

TEST_F(RWLockGrantsTest, DowngradeMayPassTheNewsOfADeathOn) {
  lock_.lockWrite(kAnna);
  Asking readers[] = {{loop_, kBen, kRead}, {loop_, kCleo, kRead}};
  for (Waiter& w : readers) lock_.enter(w);
  P::pass(kPatience);
  lock_.downgrade(kAnna, true);
  EXPECT_EQ(loop_.take(), (Heard{admitted(readers[0]), admitted(readers[1])}));
  EXPECT_TRUE(readers[0].abandoned);
  EXPECT_FALSE(readers[1].abandoned);
  unread(3);
}

TEST_F(RWLockGrantsTest, LeaveAllTakesAnUpgradeOutAndAdmitsReadersAgain) {
  read(2);
  Waiter upgrader(loop_, kAnna);
  Asking reader(loop_, kCleo, kRead);
  Asking writer(loop_, kAnna, kWrite);
  Asking second(loop_, kAnna, kRead);
  EXPECT_EQ(lock_.enterUpgrade(upgrader), Upgrade::waiting);
  for (Waiter* w : {&reader, &writer, &second}) lock_.enter(*w);
  const std::vector<std::pair<Waiter*, Leave>> all{
      {&upgrader, Leave::left}, {&writer, Leave::left}, {&second, Leave::left}};
  EXPECT_EQ(leaveAll(kAnna), all);
  EXPECT_EQ(loop_.take(), Heard{admitted(reader)});
  EXPECT_EQ(lock_.readers(), 3U);
  EXPECT_TRUE(lock_.tryLockRead());
  EXPECT_EQ(lock_.enterUpgrade(upgrader), Upgrade::waiting) << "no upgrade is pending any more";
  EXPECT_EQ(lock_.leave(upgrader), Leave::left);
  unread(4);
}

TEST_F(RWLockGrantsTest, LeaveAllKeepsTheUpgradeOfAnotherAndAdmittedWaiters) {
  read(2);
  Waiter upgrader(loop_, kAnna);
  Asking writer(loop_, kBen, kWrite);
  EXPECT_EQ(lock_.enterUpgrade(upgrader), Upgrade::waiting);
  lock_.enter(writer);
  EXPECT_EQ(leaveAll(kBen).size(), 1U);
  EXPECT_FALSE(lock_.tryLockRead());
  EXPECT_FALSE(lock_.upgradeUntil(kNever, kBen)) << "refused";
  unread(1);
  EXPECT_EQ(loop_.take(), Heard{admitted(upgrader)});
  EXPECT_TRUE(leaveAll(kAnna).empty());
  EXPECT_EQ(lock_.writer(), kAnna);
  lock_.unlockWrite(kAnna);
}

TEST_F(RWLockGrantsTest, UpgradeBlockingSaysHowItEnded) {
  Waiter w;
  w.agent = kAnna;
  read(2);
  EXPECT_EQ(lock_.upgradeBlocking(w, Deadline::min()), Upgrade::late);
  EXPECT_EQ(lock_.upgradeBlocking(w, P::now()), Upgrade::late) << "no time is no time";
  Waiter other(loop_, kBen);
  EXPECT_EQ(lock_.enterUpgrade(other), Upgrade::waiting);
  EXPECT_EQ(lock_.upgradeBlocking(w, Deadline::min()), Upgrade::refused);
  EXPECT_EQ(lock_.upgradeBlocking(w, kNever), Upgrade::refused);
  EXPECT_EQ(lock_.leave(other), Leave::left);
  unread(1);
  EXPECT_EQ(lock_.upgradeBlocking(w, Deadline::min()), Upgrade::granted);
  EXPECT_EQ(faultOf([&] { lock_.upgradeBlocking(w, kNever); }), Fault::notHolder);
  lock_.unlockWrite(kAnna);
}

TEST(RWLockUpgradeTest, ThatIsLateKeepsItsReadLockAndAdmitsReaders) {
  RWLock lock;
  lock.lockRead();
  lock.lockRead();
  EXPECT_FALSE(lock.upgradeUntil(Clock::now() + 2ms));
  EXPECT_EQ(lock.readers(), 2U);
  EXPECT_TRUE(lock.tryLockRead());
  for (int i = 0; i < 3; ++i) lock.unlockRead();
  EXPECT_EQ(wordOf(lock).load(), 0U);
}

TEST(RWLockUpgradeTest, WithoutTimeKeepsNoReaderOut) {
  RWLock lock;
  lock.lockRead();
  lock.lockRead();
  constexpr int kTimes = 20'000;
  std::atomic<int> upgrades{0};
  std::atomic<bool> stop{false};
  std::thread hasty([&] {
    for (; !stop; ++upgrades) EXPECT_FALSE(lock.upgradeUntil(Deadline::min()));
  });
  int kept = 0;
  for (int reads = 0; reads < kTimes || upgrades < kTimes; ++reads) {
    if (lock.tryLockRead()) {
      lock.unlockRead();
    } else {
      ++kept;
    }
  }
  stop = true;
  hasty.join();
  EXPECT_EQ(kept, 0);
  lock.unlockRead();
  lock.unlockRead();
}

TEST_F(RWLockGrantsTest, AWaiterOfTheSameAgentMayBlock) {
  Waiter now;
  now.agent = kAnna;
  now.ask = kRead;
  EXPECT_TRUE(lock_.enterBlocking(now, Deadline::min()));
  std::thread writer([&] {
    Waiter w;
    w.agent = kBen;
    w.ask = kWrite;
    EXPECT_FALSE(lock_.enterBlocking(w, Deadline::min()));
    EXPECT_TRUE(lock_.enterBlocking(w, kNever));
    EXPECT_EQ(lock_.writer(), kBen);
    lock_.unlockWrite(kBen);
  });
  awaitQueue<P>(&lock_, 1);
  EXPECT_TRUE(lock_.isQueued(kBen));
  unread(1);
  writer.join();
  Waiter noAgent;
  noAgent.agent = kNoAgent;
  EXPECT_EQ(faultOf([&] { lock_.enterBlocking(noAgent, kNever); }), Fault::badArgument);
}

TEST_F(RWLockGrantsTest, TheQueueCanBeLookedAt) {
  EXPECT_EQ(lock_.queueSize(), 0U);
  EXPECT_FALSE(lock_.isQueued(kAnna));
  read(2);
  Asking writer(loop_, kAnna, kWrite, 1);
  Asking reader(loop_, kBen, kRead);
  lock_.enter(writer);
  lock_.enter(reader);
  EXPECT_EQ(lock_.queueSize(), 2U);
  EXPECT_TRUE(lock_.isQueued(kAnna) && lock_.isQueued(kBen));
  EXPECT_FALSE(lock_.isQueued(kCleo));
  Waiter upgrader(loop_, kCleo);
  lock_.enterUpgrade(upgrader);
  EXPECT_TRUE(lock_.isQueued(kCleo));
  for (const AgentId agent : {kAnna, kBen, kCleo}) EXPECT_EQ(leaveAll(agent).size(), 1U);
  EXPECT_EQ(lock_.queueSize(), 0U);
  unread(2);
}

TEST_F(RWLockGrantsTest, HurryAdmitsTheInvitedReaders) {
  lock_.lockWrite(kCleo);
  Asking readers[] = {{loop_, kAnna, kRead}, {loop_, kBen, kRead}};
  Asking writer(loop_, kBen, kWrite);
  for (Waiter& w : readers) lock_.enter(w);
  lock_.enter(writer);
  lock_.unlockWrite(kCleo);
  EXPECT_EQ(loop_.take(), Heard{invited(readers[0])});
  lock_.hurry(kCleo);
  EXPECT_EQ(loop_.take(), Heard{}) << "free: it is invited already";
  EXPECT_TRUE(lock_.tryLockRead());
  EXPECT_FALSE(lock_.tryLockRead());
  lock_.hurry(kCleo);
  EXPECT_EQ(loop_.take(), Heard{admitted(readers[1])});
  EXPECT_TRUE(lock_.resume(readers[0], Wake::invited));
  EXPECT_EQ(lock_.readers(), 3U);
  lock_.hurry(kCleo);
  EXPECT_EQ(loop_.take(), Heard{}) << "the writer waits for them";
  EXPECT_EQ(lock_.leave(writer), Leave::left);
  lock_.hurry(kCleo);
  EXPECT_EQ(lock_.readers(), 3U);
  unread(3);
}

}  // namespace
}  // namespace boxoffice::test
