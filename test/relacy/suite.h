// Shared by all relacy tests: the stage of a run, the checks after it, and the runner.
#pragma once

#include <chrono>
#include <iostream>
#include <memory>

#include "relacy_platform.h"

namespace boxoffice::relacy {

/// Turns relacy's bookkeeping of the heap off for exhaustive searches. At each deallocation it
/// branches on whether to reuse the memory: that finds leaks, but doubles the search each time.
class UntrackedHeap : rl::context {
 public:
  static void begin() { change(+1); }
  static void end() { change(-1); }

 private:
  static void change(int by) {
    if (!rl::ctx().is_random_sched()) rl::ctx().*(&UntrackedHeap::disable_alloc_) += by;
  }
};

/// Constructed and destroyed inside each run. `Test` provides thread(unsigned), and resumed(),
/// which checks the final state of each run.
template <class Test, class P, int kThreads>
class Suite : public rl::test_suite<Test, kThreads> {
  static_assert(kThreads <= kMostThreads);

 public:
  Suite() {
    UntrackedHeap::begin();
    stage_ = std::make_unique<Stage<P>>();
    P::stage = stage_.get();
  }
  ~Suite() {
    stage_.reset();
    UntrackedHeap::end();
  }

  void resumed() {}

  void after() {
    stage_->over = true;
    RL_ASSERT(stage_->lot.queues() == 0);
    // A leftover wake would end the thread's next wait too early.
    for (auto& parker : stage_->parkers) RL_ASSERT(!parker.waitUntil(Deadline::min()));
    static_cast<Test*>(this)->resumed();
  }

 private:
  std::unique_ptr<Stage<P>> stage_;
};

/// The word of a lock.
template <class P, class Rules, class Lock>
auto wordOf(const Lock& lock) {
  return static_cast<const LockWord<P, Rules>&>(lock).word();
}

/// Plain data that a lock protects: relacy reports two accesses without a happens-before order.
class Payload {
 public:
  void write(int value) { value_($) = value; }
  void add() { value_($) = value_($) + 1; }
  int read() { return value_($); }

 private:
  rl::var<int> value_{0};
};

/// How often a test runs with steps chosen at random.
constexpr unsigned kRuns = 100000;

/// Runs tests and counts the unexpected results.
class Runner {
 public:
  /// Runs `Test` `runs` times, each step chosen at random from a fixed seed.
  template <class Test>
  void random(const char* name, unsigned runs) {
    rl::test_params params;
    params.iteration_count = runs;
    pass<Test>(name, params);
  }

  /// Every run with at most `switches` preemptions.
  template <class Test>
  void bounded(const char* name, unsigned switches) {
    rl::test_params params;
    params.search_type = rl::sched_bound;
    params.context_bound = switches;
    pass<Test>(name, params);
  }

  /// Expects `Test` to fail within `runs` runs.
  template <class Test>
  void finds(const char* name, unsigned runs) {
    rl::test_params params;
    params.iteration_count = runs;
    run<Test>(params);
    const bool found = params.test_result != rl::test_result_success;
    report(name, found, params, found ? rl::test_result_str(params.test_result) : "NOT FOUND");
  }

  /// For main.
  int failures() const { return failures_; }

 private:
  template <class Test>
  void pass(const char* name, rl::test_params& params) {
    run<Test>(params);
    const bool good = params.test_result == rl::test_result_success;
    report(name, good, params, rl::test_result_str(params.test_result));
    if (!good) std::cout << history_.str() << std::endl;
  }

  template <class Test>
  void run(rl::test_params& params) {
    std::ostream quiet(nullptr);
    history_.str({});
    params.output_stream = &history_;
    params.progress_stream = &quiet;
    start_ = std::chrono::steady_clock::now();
    rl::simulate<Test>(params);
  }

  void report(const char* name, bool good, const rl::test_params& params, const char* result) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
    std::cout << (good ? "ok     " : "FAILED ") << name << ": " << result << ", "
              << params.stop_iteration << " runs, " << took.count() << " s" << std::endl;
    if (!good) ++failures_;
  }

  rl::ostringstream history_;  // relacy's: a string of std would meet its operator new halfway
  std::chrono::steady_clock::time_point start_;
  int failures_ = 0;
};

}  // namespace boxoffice::relacy
