// The contract of every mutex, for each implementation.
#include "support.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

template <class Lock>
struct PlatformOf;
template <template <class> class Lock, class P>
struct PlatformOf<Lock<P>> {
  using Type = P;
};

template <class Lock>
class MutexSuite : public testing::Test {
 protected:
  using P = typename PlatformOf<Lock>::Type;

  ~MutexSuite() override {
    EXPECT_EQ(wordOf(lock_).load(), 0U);
    EXPECT_EQ(P::lot().queues(), 0U);
  }

  void awaitWaiters(std::size_t count) { awaitQueue<P>(&lock_, count); }

  Lock lock_;
};

using Locks = testing::Types<BasicMutex<Platform>, BasicMutex<NoSpinPlatform>,
                             BasicRecursiveMutex<Platform>, BasicRecursiveMutex<NoSpinPlatform>>;
TYPED_TEST_SUITE(MutexSuite, Locks);

TYPED_TEST(MutexSuite, StartsFree) {
  EXPECT_EQ(sizeof(BasicMutex<Platform>), 4U);
  EXPECT_EQ(this->lock_.owner(), kNoAgent);
}

TYPED_TEST(MutexSuite, IsHeldFromLockToUnlock) {
  const Entry entry = this->lock_.lock();
  EXPECT_TRUE(entry.granted);
  EXPECT_FALSE(entry.abandoned);
  EXPECT_EQ(this->lock_.owner(), thisThread());
  this->lock_.unlock();
  EXPECT_EQ(this->lock_.owner(), kNoAgent);
}

TYPED_TEST(MutexSuite, TryLockNeedsAFreeMutex) {
  EXPECT_TRUE(this->lock_.tryLock(kAnna));
  EXPECT_FALSE(this->lock_.tryLock(kBen));
  EXPECT_EQ(this->lock_.owner(), kAnna);
  this->lock_.unlock(kAnna);
  EXPECT_TRUE(this->lock_.tryLock(kBen));
  this->lock_.unlock(kBen);
}

TYPED_TEST(MutexSuite, LockForGivesUpAndLeavesTheQueue) {
  this->lock_.lock(kAnna);
  EXPECT_FALSE(this->lock_.lockFor(0ns));
  EXPECT_FALSE(this->lock_.lockFor(-1h));
  EXPECT_FALSE(this->lock_.lockFor(std::chrono::nanoseconds::min()));
  EXPECT_FALSE(this->lock_.lockFor(50us));
  EXPECT_FALSE(this->lock_.lockUntil(Clock::now() + 50us));
  this->awaitWaiters(0);
  this->lock_.unlock(kAnna);
}

TYPED_TEST(MutexSuite, LockForTakesAFreeMutexWhateverTheTimeout) {
  for (const auto timeout : {std::chrono::nanoseconds(0), std::chrono::nanoseconds(-1),
                             std::chrono::nanoseconds::min(), std::chrono::nanoseconds::max()}) {
    EXPECT_TRUE(this->lock_.lockFor(timeout));
    this->lock_.unlock();
  }
}

TYPED_TEST(MutexSuite, LockForIsGrantedByAnUnlockBeforeTheDeadline) {
  for (const auto timeout : {std::chrono::nanoseconds(1h), std::chrono::nanoseconds::max()}) {
    this->lock_.lock();
    std::thread other([&] {
      EXPECT_TRUE(this->lock_.lockFor(timeout));
      this->lock_.unlock();
    });
    this->awaitWaiters(1);
    this->lock_.unlock();
    other.join();
  }
}

TYPED_TEST(MutexSuite, UnlockOfAFreeMutexIsMisuse) {
  EXPECT_EQ(faultOf([&] { this->lock_.unlock(); }), Fault::notHolder);
  EXPECT_TRUE(this->lock_.tryLock());
  this->lock_.unlock();
  EXPECT_EQ(faultOf([&] { this->lock_.unlock(); }), Fault::notHolder);
}

TYPED_TEST(MutexSuite, UnlockOfAnothersMutexIsMisuse) {
  this->lock_.lock(kAnna);
  EXPECT_EQ(faultOf([&] { this->lock_.unlock(); }), Fault::notHolder);
  EXPECT_EQ(faultOf([&] { this->lock_.unlock(kBen); }), Fault::notHolder);
  EXPECT_EQ(this->lock_.owner(), kAnna);
  this->lock_.unlock(kAnna);
}

TYPED_TEST(MutexSuite, UnlockOfAnothersMutexIsMisuseAlsoWithAQueue) {
  this->lock_.lock(kAnna);
  std::thread waiter([&] {
    this->lock_.lock();
    this->lock_.unlock();
  });
  this->awaitWaiters(1);
  EXPECT_EQ(faultOf([&] { this->lock_.unlock(kBen); }), Fault::notHolder);
  EXPECT_EQ(this->lock_.owner(), kAnna);
  EXPECT_EQ(queueSizeAt<typename TestFixture::P>(&this->lock_), 1U);
  this->lock_.unlock(kAnna);
  waiter.join();
}

TYPED_TEST(MutexSuite, ThreadsAreAdmittedInTheOrderTheyCame) {
  constexpr int kThreads = 8;
  std::vector<int> order;
  std::vector<std::thread> threads;
  this->lock_.lock();
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      this->lock_.lock();
      order.push_back(i);
      this->lock_.unlock();
    });
    this->awaitWaiters(static_cast<std::size_t>(i) + 1);
  }
  this->lock_.unlock();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4, 5, 6, 7}));
}

TYPED_TEST(MutexSuite, AWaiterThatDoesNotBlockIsAdmittedAtOnceOrByAWake) {
  Notes loop;
  Waiter first(loop, kAnna);
  Waiter second(loop, kBen);
  EXPECT_TRUE(this->lock_.enter(first));
  EXPECT_FALSE(this->lock_.enter(second));
  EXPECT_EQ(this->lock_.owner(), kAnna);
  this->lock_.unlock(kAnna);

  const Heard heard = loop.take();
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0].waiter, &second);
  EXPECT_TRUE(this->lock_.resume(second, heard[0].how));
  EXPECT_EQ(this->lock_.owner(), kBen);
  EXPECT_EQ(second.state, Waiter::State::idle);
  this->lock_.unlock(kBen);
  EXPECT_EQ(loop.take(), Heard{});
}

TYPED_TEST(MutexSuite, AWaiterLeavesFromAnywhereAndTheRestGoOn) {
  Notes loop;
  Waiter w[4] = {{loop, kAnna}, {loop, kAnna}, {loop, kAnna}, {loop, kAnna}};
  this->lock_.lock(kAnna);
  // The waiters are of another agent, since a recursive mutex would admit its holder again.
  for (Waiter& waiter : w) {
    waiter.agent = kBen;
    EXPECT_FALSE(this->lock_.enter(waiter));
  }
  EXPECT_EQ(this->lock_.leave(w[1]), Leave::left);
  EXPECT_EQ(this->lock_.leave(w[0]), Leave::left);
  EXPECT_EQ(faultOf([&] { this->lock_.leave(w[0]); }), Fault::notWaiting);
  EXPECT_EQ(this->lock_.leave(w[3]), Leave::left);
  EXPECT_EQ(queueSizeAt<typename TestFixture::P>(&this->lock_), 1U);
  EXPECT_EQ(this->lock_.leave(w[2]), Leave::left);
  EXPECT_EQ(loop.take(), Heard{});
  this->lock_.unlock(kAnna);
}

TYPED_TEST(MutexSuite, LeavingWithoutWaitingIsMisuse) {
  Notes loop;
  Waiter w(loop, kAnna);
  EXPECT_EQ(faultOf([&] { this->lock_.leave(w); }), Fault::notWaiting);
  EXPECT_TRUE(this->lock_.enter(w));
  EXPECT_EQ(faultOf([&] { this->lock_.leave(w); }), Fault::notWaiting);
  EXPECT_EQ(this->lock_.owner(), kAnna);
  this->lock_.unlock(kAnna);
}

}  // namespace
}  // namespace boxoffice::test
