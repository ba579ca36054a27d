// Shared by the tests of watched threads: a Stop that counts its checks, and a check that it ends a
// wait.
#pragma once

#include <functional>

#include "support.h"

namespace boxoffice::test {

using Watch = ThreadParker<NoSpinPlatform>::Watch;

class Asked final : public Stop {
 public:
  bool isRequested() noexcept override {
    const bool requested = requested_.load();
    ++(requested ? late_ : looks_);
    return requested;
  }
  void request() { requested_ = true; }
  void revoke() { requested_ = false; }
  /// The number of checks before and after the request.
  int looks() const { return looks_; }
  int late() const { return late_; }

 private:
  std::atomic<bool> requested_{false};
  std::atomic<int> looks_{0};
  std::atomic<int> late_{0};
};

/// Checks that `wait()`, which blocks in the queue of the word at `address`, returns after a stop is requested,
/// within `looks` checks. `meanwhile()` runs while it waits.
template <class Wait>
void expectBack(
    const void* address, Wait&& wait, int looks = 1,
    const std::function<void()>& meanwhile = [] {}) {
  Asked asked;
  std::thread thread([&] {
    const Watch watch(asked);
    EXPECT_FALSE(wait());
    EXPECT_EQ(queueSizeAt<NoSpinPlatform>(address), 0U) << "it has left the queue";
  });
  awaitQueue<NoSpinPlatform>(address, 1);
  meanwhile();
  await([&] { return asked.looks() >= 2; });
  EXPECT_EQ(queueSizeAt<NoSpinPlatform>(address), 1U) << "a look does not end a wait";
  asked.request();
  thread.join();
  EXPECT_GE(asked.late(), 1);
  EXPECT_LE(asked.late(), looks);
  EXPECT_EQ(NoSpinPlatform::lot().queues(), 0U);
}

}  // namespace boxoffice::test
