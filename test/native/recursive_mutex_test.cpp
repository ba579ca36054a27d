// A holder that locks its mutex again.
#include "support.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using P = FakeClockPlatform;

class RecursiveMutexTest : public testing::Test {
 protected:
  ~RecursiveMutexTest() override {
    EXPECT_EQ(mutex_.owner(), kNoAgent);
    EXPECT_EQ(P::lot().queues(), 0U);
  }

  // The depth is stored behind the word.
  std::uint32_t& depth() { return (&reinterpret_cast<std::uint32_t&>(mutex_))[1]; }

  BasicRecursiveMutex<P> mutex_;
  Notes loop_;
};

TEST_F(RecursiveMutexTest, TakesAsManyUnlocksAsLocksOfAnyKind) {
  Waiter w(loop_, kAnna);
  EXPECT_TRUE(mutex_.lock(kAnna));
  EXPECT_TRUE(mutex_.tryLock(kAnna));
  EXPECT_TRUE(mutex_.lockFor(0ns, kAnna));
  EXPECT_TRUE(mutex_.lockUntil(Deadline::min(), kAnna));
  EXPECT_TRUE(mutex_.enter(w));
  EXPECT_EQ(mutex_.depth(), 5U);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(mutex_.owner(), kAnna);
    EXPECT_FALSE(mutex_.tryLock(kBen));
    mutex_.unlock(kAnna);
  }
  EXPECT_EQ(mutex_.owner(), kNoAgent);
  EXPECT_TRUE(mutex_.tryLock(kBen));
  EXPECT_EQ(mutex_.depth(), 1U);
  mutex_.unlock(kBen);
}

TEST_F(RecursiveMutexTest, TheNextHolderStartsAtDepthOne) {
  mutex_.lock(kAnna);
  mutex_.lock(kAnna);
  Waiter w(loop_, kBen);
  EXPECT_FALSE(mutex_.enter(w));
  P::pass(kPatience);
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), Heard{});
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), Heard{admitted(w)});
  EXPECT_TRUE(mutex_.resume(w, Wake::admitted));
  EXPECT_EQ(mutex_.depth(), 1U);
  mutex_.unlock(kBen);
}

TEST_F(RecursiveMutexTest, TooLateAnInvitationChangesNoDepth) {
  mutex_.lock(kAnna);
  Waiter w(loop_, kBen);
  mutex_.enter(w);
  mutex_.unlock(kAnna);
  EXPECT_EQ(loop_.take(), Heard{invited(w)});
  mutex_.lock(kAnna);
  mutex_.lock(kAnna);
  EXPECT_FALSE(mutex_.resume(w, Wake::invited));
  EXPECT_EQ(mutex_.depth(), 2U);
  EXPECT_EQ(mutex_.leave(w), Leave::left);
  mutex_.unlock(kAnna);
  mutex_.unlock(kAnna);
}

/// The mutex is handed over to a waiter of kBen's event loop, which has not resumed it yet.
class HandedOverMutexTest : public RecursiveMutexTest {
 protected:
  HandedOverMutexTest() {
    mutex_.lock(kAnna);
    EXPECT_FALSE(mutex_.enter(waiter_));
    P::pass(kPatience);
    mutex_.unlock(kAnna);
    EXPECT_EQ(loop_.take(), Heard{admitted(waiter_)});
  }

  bool resume() { return mutex_.resume(waiter_, Wake::admitted); }

  Waiter waiter_{loop_, kBen};
};

TEST_F(HandedOverMutexTest, CountsWhatItsAgentLocksBeforeTheWaiterResumes) {
  Waiter other(loop_, kBen);
  EXPECT_TRUE(mutex_.enter(other));
  EXPECT_TRUE(mutex_.tryLock(kBen));
  EXPECT_TRUE(resume());
  EXPECT_EQ(mutex_.depth(), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(mutex_.tryLock(kAnna));
    mutex_.unlock(kBen);
  }
}

TEST_F(HandedOverMutexTest, StaysLockedForTheWaiterWhenAllOthersOfItsAgentUnlock) {
  for (int i = 0; i < 2; ++i) {
    mutex_.lock(kBen);
    mutex_.unlock(kBen);
  }
  EXPECT_EQ(mutex_.owner(), kBen);
  EXPECT_TRUE(resume());
  EXPECT_EQ(mutex_.depth(), 1U);
  mutex_.unlock(kBen);
}

TEST_F(HandedOverMutexTest, IsNotToBeUnlockedInPlaceOfTheWaiter) {
  EXPECT_EQ(faultOf([&] { mutex_.unlock(kBen); }), Fault::notHolder);
  mutex_.lock(kBen);
  mutex_.unlock(kBen);
  EXPECT_EQ(faultOf([&] { mutex_.unlock(kBen); }), Fault::notHolder);
  EXPECT_EQ(mutex_.owner(), kBen);
  EXPECT_TRUE(resume());
  EXPECT_EQ(mutex_.depth(), 1U);
  mutex_.unlock(kBen);
}

TEST_F(HandedOverMutexTest, CountsTheLockOfAWaiterThatLeavesTooLate) {
  mutex_.lock(kBen);
  EXPECT_EQ(mutex_.leave(waiter_), Leave::admitted);
  EXPECT_TRUE(resume());
  mutex_.unlock(kBen);
  EXPECT_EQ(mutex_.owner(), kBen);
  mutex_.unlock(kBen);
}

TEST_F(RecursiveMutexTest, UnlockByAnotherAgentIsMisuseAndChangesNothing) {
  mutex_.lock(kAnna);
  mutex_.lock(kAnna);
  EXPECT_EQ(faultOf([&] { mutex_.unlock(kBen); }), Fault::notHolder);
  EXPECT_EQ(mutex_.depth(), 2U);
  mutex_.unlock(kAnna);
  mutex_.unlock(kAnna);
  EXPECT_EQ(faultOf([&] { mutex_.unlock(kAnna); }), Fault::notHolder);
  EXPECT_EQ(faultOf([&] { mutex_.unlock(kNoAgent); }), Fault::notHolder);
  EXPECT_EQ(mutex_.depth(), 0U);
}

TEST_F(RecursiveMutexTest, LockedTooOftenIsMisuseAndChangesNothing) {
  mutex_.lock(kAnna);
  depth() = BasicRecursiveMutex<P>::kMaxDepth;
  ASSERT_EQ(mutex_.depth(), BasicRecursiveMutex<P>::kMaxDepth);
  Waiter w(loop_, kAnna);
  EXPECT_EQ(faultOf([&] { mutex_.lock(kAnna); }), Fault::overflow);
  EXPECT_EQ(faultOf([&] { mutex_.tryLock(kAnna); }), Fault::overflow);
  EXPECT_EQ(faultOf([&] { mutex_.enter(w); }), Fault::overflow);
  EXPECT_EQ(mutex_.depth(), BasicRecursiveMutex<P>::kMaxDepth);
  depth() = 1;
  mutex_.unlock(kAnna);
}

}  // namespace
}  // namespace boxoffice::test
