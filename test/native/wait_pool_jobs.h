// Jobs for the tests of the wait pool.
#pragma once

#include <functional>
#include <memory>

#include "support.h"

namespace boxoffice::test {

using std::chrono::hours;
using std::chrono::milliseconds;

/// Nothing to wait for: a step on a thread of the pool.
class Step final : public WaitPool::Job {
 public:
  explicit Step(std::function<void()> step) : step_(std::move(step)) {}
  void run() noexcept override { step_(); }
  void interrupt() noexcept override {}

 private:
  const std::function<void()> step_;
};

inline std::shared_ptr<Step> step(std::function<void()> what) {
  return std::make_shared<Step>(std::move(what));
}

/// Waits until it is let go, or interrupted.
class Blocked final : public WaitPool::Job {
 public:
  void run() noexcept override {
    thread = std::this_thread::get_id();
    begun.signal();
    go.wait();
    ++runs;
  }
  void interrupt() noexcept override {
    ++interrupts;
    go.signal();
  }

  LightweightSemaphore begun;
  LightweightSemaphore go;
  std::thread::id thread;
  std::atomic<int> runs{0};
  std::atomic<int> interrupts{0};
};

using Many = std::vector<std::shared_ptr<Blocked>>;

inline Many submitBlocked(WaitPool& pool, int count) {
  Many jobs;
  for (int i = 0; i < count; ++i) {
    jobs.push_back(std::make_shared<Blocked>());
    EXPECT_TRUE(pool.submit(jobs.back()));
  }
  return jobs;
}

/// Until the only thread of the pool has nothing to do. A thread is free from its start, before it
/// has taken the job that it was started for: hence the look at the queue first.
inline void awaitRest(const WaitPool& pool) {
  await([&] { return pool.queued() == 0 && pool.idle() == 1; });
}

/// Has the calling thread signal `gone` when it ends.
inline void tellOfEnd(LightweightSemaphore& gone) {
  struct Teller {
    LightweightSemaphore& told;
    ~Teller() { told.signal(); }
  };
  thread_local const Teller teller{gone};
}

}  // namespace boxoffice::test
