// Several mutexes at once.
#include "support.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using P = FakeClockPlatform;
using Set = BasicLockSet<P>;

class LockSetTest : public testing::Test {
 protected:
  ~LockSetTest() override {
    for (auto& mutex : m_) EXPECT_EQ(wordOf(mutex).load(), 0U);
    EXPECT_EQ(P::lot().queues(), 0U);
  }

  int held() const {
    int count = 0;
    for (const auto& mutex : m_) count += mutex.isLocked();
    return count;
  }

  BasicMutex<P> m_[3];
  Set all_{&m_[2], &m_[0], &m_[1]};
  Notes loop_;
  Waiter w_{loop_, kAnna};
};

TEST_F(LockSetTest, HoldsAllFromLockToUnlock) {
  EXPECT_TRUE(all_.lock());
  EXPECT_EQ(held(), 3);
  EXPECT_EQ(m_[1].owner(), thisThread());
  all_.unlock();
  EXPECT_EQ(held(), 0);
  EXPECT_TRUE(all_.tryLock(kAnna));
  EXPECT_EQ(held(), 3);
  all_.unlock(kAnna);
}

TEST_F(LockSetTest, LocksAMutexOnceHoweverOftenItIsNamed) {
  Set twice{&m_[0], &m_[1], &m_[0], &m_[1]};
  EXPECT_EQ(twice.size(), 2U);
  EXPECT_TRUE(twice.lock());
  EXPECT_EQ(held(), 2);
  twice.unlock();
}

TEST_F(LockSetTest, NoMutexIsAFineSet) {
  Set none{};
  EXPECT_EQ(none.size(), 0U);
  EXPECT_TRUE(none.lock());
  none.unlock();
  EXPECT_TRUE(none.enter(w_));
  EXPECT_EQ(faultOf([&] { none.leave(w_); }), Fault::notWaiting);
}

TEST_F(LockSetTest, ANullMutexIsMisuse) {
  EXPECT_EQ(faultOf([&] { Set bad{&m_[0], nullptr}; }), Fault::badArgument);
}

TEST_F(LockSetTest, LockingTwiceIsMisuse) {
  all_.lock();
  EXPECT_EQ(faultOf([&] { all_.lock(); }), Fault::badArgument);
  EXPECT_EQ(faultOf([&] { all_.tryLock(); }), Fault::badArgument);
  EXPECT_EQ(faultOf([&] { all_.enter(w_); }), Fault::badArgument);
  EXPECT_EQ(held(), 3);
  all_.unlock();
}

TEST_F(LockSetTest, UnlockByAnotherAgentIsMisuseAndChangesNothing) {
  all_.lock(kAnna);
  EXPECT_EQ(faultOf([&] { all_.unlock(kBen); }), Fault::notHolder);
  EXPECT_EQ(held(), 3);
  all_.unlock(kAnna);
}

TEST_F(LockSetTest, UnlockAfterOneMutexWasUnlockedIsMisuseAndChangesNothing) {
  all_.lock(kAnna);
  for (auto& lost : m_) {
    lost.unlock(kAnna);
    EXPECT_EQ(faultOf([&] { all_.unlock(kAnna); }), Fault::notHolder);
    EXPECT_EQ(held(), 2);
    lost.lock(kAnna);
  }
  all_.unlock(kAnna);
  EXPECT_EQ(held(), 0);
}

TEST_F(LockSetTest, AcquiresAllOrNone) {
  for (auto& obstacle : m_) {
    obstacle.lock(kBen);
    EXPECT_FALSE(all_.tryLock());
    EXPECT_EQ(held(), 1);
    EXPECT_FALSE(all_.lockFor(0ns));
    EXPECT_FALSE(all_.lockFor(-1s));
    EXPECT_FALSE(all_.lockFor(20us));
    EXPECT_EQ(held(), 1);
    obstacle.unlock(kBen);
  }
  EXPECT_TRUE(all_.lockFor(0ns));
  all_.unlock();
}

TEST_F(LockSetTest, TellsWhetherAMutexWasAbandoned) {
  m_[1].lock(kBen);
  m_[1].abandon(kBen);
  EXPECT_TRUE(all_.lock().abandoned);
  EXPECT_TRUE(all_.abandoned());
  all_.unlock();
  EXPECT_FALSE(all_.lock().abandoned);
  EXPECT_FALSE(all_.abandoned());
  all_.unlock();
}

TEST_F(LockSetTest, ASetThatDoesNotGetAllLeavesADeathToTheNextHolder) {
  m_[2].lock(kBen);
  const auto isPassedOn = [this] {
    EXPECT_EQ(held(), 1);
    EXPECT_FALSE(all_.abandoned());
    const bool isTold = m_[0].tryLock(kCleo).abandoned;
    m_[0].abandon(kCleo);
    return isTold;
  };
  m_[0].lock(kBen);
  m_[0].abandon(kBen);
  EXPECT_FALSE(all_.tryLock(kAnna));
  EXPECT_TRUE(isPassedOn());
  EXPECT_FALSE(all_.lockFor(20us));
  EXPECT_TRUE(isPassedOn());
  EXPECT_FALSE(all_.enter(w_));
  EXPECT_EQ(all_.leave(w_), Leave::left);
  EXPECT_TRUE(isPassedOn());
  m_[2].unlock(kBen);
  EXPECT_TRUE(all_.tryLock(kAnna).abandoned);
  all_.unlock(kAnna);
  EXPECT_FALSE(all_.tryLock(kAnna).abandoned) << "the set that held all was told";
  all_.unlock(kAnna);
}

TEST_F(LockSetTest, ASetThatLeavesTooLateLeavesADeathToTheNextHolder) {
  m_[0].lock(kBen);
  m_[0].abandon(kBen);
  m_[2].lock(kBen);
  EXPECT_FALSE(all_.enter(w_));
  P::pass(kPatience);
  m_[2].abandon(kBen);
  EXPECT_EQ(all_.leave(w_), Leave::admitted);
  EXPECT_TRUE(all_.resume(w_, Wake::admitted));
  all_.unlock(kAnna);
  EXPECT_TRUE(m_[0].tryLock(kCleo).abandoned);
  EXPECT_TRUE(m_[2].tryLock(kCleo).abandoned);
  m_[0].unlock(kCleo);
  m_[2].unlock(kCleo);
}

TEST_F(LockSetTest, WaitsForOneMutexAfterTheOther) {
  m_[0].lock(kBen);
  m_[2].lock(kBen);
  EXPECT_FALSE(all_.enter(w_));
  EXPECT_FALSE(m_[1].isLocked()) << "only those before the one waited for are held";
  P::pass(kPatience);
  m_[0].unlock(kBen);
  EXPECT_EQ(loop_.take(), Heard{admitted(w_)});
  EXPECT_FALSE(all_.resume(w_, Wake::admitted));
  EXPECT_EQ(m_[1].owner(), kAnna);
  m_[2].unlock(kBen);
  EXPECT_EQ(loop_.take(), Heard{invited(w_)});
  EXPECT_TRUE(all_.resume(w_, Wake::invited));
  EXPECT_EQ(m_[2].owner(), kAnna);
  all_.unlock(kAnna);
}

TEST_F(LockSetTest, LeavingUnlocksTheMutexesThatItHolds) {
  m_[1].lock(kBen);
  EXPECT_FALSE(all_.enter(w_));
  EXPECT_EQ(m_[0].owner(), kAnna);
  EXPECT_EQ(all_.leave(w_), Leave::left);
  EXPECT_EQ(held(), 1);
  EXPECT_EQ(faultOf([&] { all_.leave(w_); }), Fault::notWaiting);
  m_[1].unlock(kBen);
  EXPECT_TRUE(all_.tryLock());
  all_.unlock();
}

TEST_F(LockSetTest, LeavingTooLateKeepsTheMutexesThatItHolds) {
  m_[1].lock(kBen);
  EXPECT_FALSE(all_.enter(w_));
  P::pass(kPatience);
  m_[1].unlock(kBen);
  EXPECT_EQ(all_.leave(w_), Leave::admitted);
  EXPECT_TRUE(all_.resume(w_, Wake::admitted));
  EXPECT_EQ(faultOf([&] { all_.leave(w_); }), Fault::notWaiting) << "it waits for nothing";
  all_.unlock(kAnna);
}

TEST_F(LockSetTest, ThreadsThatNameMutexesInOppositeOrderDoNotDeadlock) {
  constexpr int kRounds = 2'000;
  int both = 0;
  const auto work = [&](BasicMutex<P>* first, BasicMutex<P>* second) {
    Set pair{first, second};
    for (int i = 0; i < kRounds; ++i) {
      pair.lock();
      ++both;
      pair.unlock();
    }
  };
  std::thread one(work, &m_[0], &m_[1]);
  std::thread two(work, &m_[1], &m_[0]);
  one.join();
  two.join();
  EXPECT_EQ(both, 2 * kRounds);
}

}  // namespace
}  // namespace boxoffice::test
