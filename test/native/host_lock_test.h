// A lock of processes, step by step: several seats in one process, whose bells are heard when the test says so, and
// whose time stands still until it lets it pass.
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
    expectNobodyWaits<WorldPlatform>();
  }

  static void pass(std::chrono::nanoseconds time) { WorldPlatform::frozen += time.count(); }
  Lock& of(Seat seat) { return world_.at<Lock>(seat); }
  void hear(Seat seat) { world_.hear<Lock>(seat); }
  void hearAll() { world_.hearAll<Lock>(); }
  Heard heard() {
    hearAll();
    return notes_.take();
  }

  World world_{10};
  Notes notes_;
};

using WorldRWLock = host::BasicHostRWLock<WorldPlatform>;

class HostRWLockFixture : public HostLockTest<WorldRWLock> {
 protected:
  void expectPristine() {
    hearAll();
    EXPECT_TRUE(WorldRWLock::rests(&world_.at<std::byte>(0), 0));
    EXPECT_EQ(world_.turn().bits(), 0U);
  }
};

}  // namespace boxoffice::test
