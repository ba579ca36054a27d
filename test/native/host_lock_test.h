// A lock of scope host, step by step: several process slots in one process. The test decides when wake-ups are
// handled and when time passes.
#pragma once

#include "host/host_rw_lock.h"
#include "host_world.h"

namespace boxoffice::test {

template <class Lock>
class HostLockTest : public testing::Test {
 protected:
  HostLockTest() { WorldPlatform::frozen = 1'000'000'000; }
  ~HostLockTest() override {
    WorldPlatform::frozen = 0;
    expectNoWaiters<WorldPlatform>();
  }

  static void pass(std::chrono::nanoseconds time) { WorldPlatform::frozen += time.count(); }
  Lock& of(ProcessSlot process) { return world_.at<Lock>(process); }
  void deliver(ProcessSlot process) { world_.deliver<Lock>(process); }
  void deliverAll() { world_.deliverAll<Lock>(); }
  Heard notified() {
    deliverAll();
    return notes_.take();
  }

  World world_{10};
  Notes notes_;
};

using WorldRWLock = HostRWLockForms<WorldPlatform>;

class HostRWLockFixture : public HostLockTest<WorldRWLock> {
 protected:
  void expectPristine() {
    deliverAll();
    EXPECT_TRUE(WorldRWLock::isUnused(&world_.at<std::byte>(0), 0));
    EXPECT_EQ(world_.owner().bits(), 0U);
  }
};

}  // namespace boxoffice::test
