// When the slot of a key may be forgotten: nothing but the report of a death keeps it from another key.
#include "host_lock_test.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kNowMs = 1000;  // of HostLockTest

template <class Lock>
class HostUntoldTest : public HostLockTest<Lock> {
 protected:
  using Base = HostLockTest<Lock>;

  std::byte* slot() { return &this->world_.template at<std::byte>(0); }
  bool isUnused() { return Lock::isUnused(slot(), kStart); }
  bool isForgettable() { return Lock::isForgettable(slot(), kStart); }
  void evict(ProcessSlot dead) { this->world_.template evict<Lock>(dead); }

  void expectInUse() {
    EXPECT_FALSE(isUnused());
    EXPECT_FALSE(isForgettable());
  }
  void expectUntold() {
    EXPECT_FALSE(isUnused());
    EXPECT_TRUE(isForgettable());
  }
  /// As the table gives the slot to another key, whose first holder must not be told.
  void expectResets() {
    Lock::reset(slot(), kStart);
    EXPECT_TRUE(isUnused());
    EXPECT_TRUE(isForgettable());
  }

  static constexpr std::int64_t kStart = 1;
};

using HostUntoldMutex = HostUntoldTest<WorldMutex>;
using HostUntoldRWLock = HostUntoldTest<WorldRWLock>;
using WorldSemaphore = HostSemaphoreForms<WorldPlatform>;
using HostUntoldSemaphore = HostUntoldTest<WorldSemaphore>;

TEST_F(HostUntoldMutex, IsForgettableOnceItsHolderHasBeenRemoved) {
  EXPECT_TRUE(isForgettable());
  of(1).lock(kAnna);
  expectInUse();
  evict(1);
  expectUntold();
  expectResets();
  EXPECT_FALSE(of(2).lock(kBen).abandoned);
  of(2).unlock(kBen);
}

TEST_F(HostUntoldMutex, IsNotForgettableWhileAProcessWaitsOrHolds) {
  of(1).lock(kAnna);
  Asking ben(notes_, kBen);
  EXPECT_FALSE(of(2).enter(ben));
  evict(1);
  expectInUse();
  deliverAll();
  expectInUse();
  EXPECT_TRUE(of(2).resume(ben, Wake::admitted));
  EXPECT_TRUE(ben.abandoned);
  of(2).unlock(kBen);
  EXPECT_TRUE(isUnused());
}

TEST_F(HostUntoldMutex, IsNotForgettableBeforeTheEndOfItsMinHold) {
  of(1).lock(kAnna);
  world_.at<host::MutexSlot>(0).rest = (kNowMs + 500) << 1;
  evict(1);
  expectInUse();
  pass(499ms);
  expectInUse();
  pass(1ms);
  expectUntold();
  expectResets();
}

TEST_F(HostUntoldRWLock, IsForgettableOnceItsWriterHasBeenRemoved) {
  EXPECT_TRUE(isForgettable());
  of(1).lockWrite(kAnna);
  expectInUse();
  evict(1);
  expectUntold();
  expectResets();
  EXPECT_FALSE(of(2).lockWrite(kBen).abandoned);
  of(2).unlockWrite(kBen);
}

TEST_F(HostUntoldRWLock, IsNotForgettableWhileAProcessWaitsOrReads) {
  of(1).lockWrite(kAnna);
  Asking ben(notes_, kBen);
  ben.ask = RWLockRules::kRead;
  EXPECT_FALSE(of(2).enter(ben));
  evict(1);
  expectInUse();
  deliverAll();
  expectInUse();
  EXPECT_TRUE(of(2).resume(ben, Wake::admitted));
  EXPECT_TRUE(ben.abandoned);
  of(2).unlockRead(kBen);
  EXPECT_TRUE(isUnused());
}

TEST_F(HostUntoldRWLock, IsNotForgettableBeforeTheEndOfItsMinHolds) {
  auto& words = world_.at<host::RWLockSlot>(0);
  for (auto* const rest : {&words.writeRest, &words.readRest}) {
    const auto now = static_cast<std::uint64_t>(WorldPlatform::frozen / 1'000'000);
    of(1).lockWrite(kAnna);
    *rest = (now + 500) << host::kRestAt;
    evict(1);
    expectInUse();
    pass(499ms);
    expectInUse();
    pass(1ms);
    expectUntold();
    expectResets();
  }
}

TEST_F(HostUntoldSemaphore, IsForgettableOnceItsHolderHasBeenRemoved) {
  WorldSemaphore::reset(slot(), kStart);
  EXPECT_TRUE(isForgettable());
  of(1).acquire();
  expectInUse();
  evict(1);
  expectUntold();
  expectResets();
  EXPECT_FALSE(of(2).acquire().abandoned);
  of(2).release();
}

TEST_F(HostUntoldSemaphore, IsNotForgettableWithAnotherValueThanAtFirst) {
  WorldSemaphore::reset(slot(), kStart);
  of(2).release(2);
  of(1).acquire();
  evict(1);
  expectInUse();
}

TEST_F(HostUntoldSemaphore, IsNotForgettableBeforeTheEndOfItsMinHold) {
  WorldSemaphore::reset(slot(), kStart);
  of(1).acquire();
  world_.at<host::SemaphoreSlot>(0).rest = kNowMs + 500;
  evict(1);
  expectInUse();
  pass(499ms);
  expectInUse();
  pass(1ms);
  expectUntold();
  expectResets();
}

}  // namespace
}  // namespace boxoffice::test
