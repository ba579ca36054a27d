// A read-write lock that each test must leave free and without a queue.
#pragma once

#include "support.h"

namespace boxoffice::test {

class RWLockFixture : public testing::Test {
 protected:
  using Platform = FakeClockPlatform;

  ~RWLockFixture() override {
    EXPECT_EQ(wordOf(lock_).load(), 0U);
    EXPECT_EQ(Platform::lot().queues(), 0U);
  }

  void read(int times) {
    for (int i = 0; i < times; ++i) lock_.lockRead();
  }
  void unread(int times) {
    for (int i = 0; i < times; ++i) lock_.unlockRead();
  }

  BasicRWLock<Platform> lock_;
  Notes loop_;
};

}  // namespace boxoffice::test
