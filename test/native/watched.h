// What the tests of watched threads share: a Stop that counts how often it is looked at, and a wait that it
// ends.
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
  /// How often it was looked at before and after it was requested.
  int looks() const { return looks_; }
  int late() const { return late_; }

 private:
  std::atomic<bool> requested_{false};
  std::atomic<int> looks_{0};
  std::atomic<int> late_{0};
};

/// `wait()`, which blocks in the queue of the word at `address`, comes back after a stop is requested, with
/// no more than that many looks. While it waits, `meanwhile()` runs.
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
