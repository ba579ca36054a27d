// The semaphore of Preshing's article, re-made as a yardstick: a counter in front of the system's
// semaphore, and a fixed number of looks before sleeping.
//
// Known fault, kept: the thread spins for a fixed time even when spinning does not pay. On few
// cores it keeps the signalling thread from running.
#pragma once

#include <atomic>

#include "platform/semaphore.h"

namespace bench::article {

class SpinningSemaphore {
 public:
  static constexpr int kLooks = 10'000;

  void wait() {
    for (int i = 0; i <= kLooks; ++i) {
      if (tryWait()) return;
    }
    if (count_.fetch_sub(1, std::memory_order_acquire) <= 0) sleepers_.wait();
  }

  void signal(int n = 1) {
    const int before = count_.fetch_add(n, std::memory_order_release);
    if (before < 0) sleepers_.signal(-before < n ? -before : n);
  }

 private:
  bool tryWait() {
    int count = count_.load(std::memory_order_relaxed);
    return count > 0 && count_.compare_exchange_strong(count, count - 1, std::memory_order_acquire,
                                                       std::memory_order_relaxed);
  }

  std::atomic<int> count_ = 0;
  boxoffice::Semaphore sleepers_;
};

}  // namespace bench::article
