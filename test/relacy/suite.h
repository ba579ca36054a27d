// What all relacy tests share: the stage of a run, the checks after it, and running them.
#pragma once

#include <chrono>
#include <iostream>
#include <memory>

#include "relacy_platform.h"

namespace boxoffice::relacy {

/// Relacy's own bookkeeping of the heap chooses, at each deallocation, whether to reuse the memory.
/// That finds leaks, but would double an exhaustive search with each of them.
class UntrackedHeap : rl::context {
 public:
  static void begin() { change(+1); }
  static void end() { change(-1); }

 private:
  static void change(int by) {
    if (!rl::ctx().is_random_sched()) rl::ctx().*(&UntrackedHeap::disable_alloc_) += by;
  }
};

/// Constructed and destroyed inside each run. `Test` has thread(unsigned), and settled(), which
/// says after each run whether everything is as it should be.
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

  void settled() {}

  void after() {
    stage_->over = true;
    RL_ASSERT(stage_->lot.queues() == 0);
    // A wake that was not taken would end the thread's next wait too early.
    for (auto& parker : stage_->parkers) RL_ASSERT(!parker.waitUntil(Deadline::min()));
    static_cast<Test*>(this)->settled();
  }

 private:
  std::unique_ptr<Stage<P>> stage_;
};

/// The word of a lock.
template <class P, class Rules, class Lock>
auto wordOf(const Lock& lock) {
  return static_cast<const LockWord<P, Rules>&>(lock).word();
}

/// Something plain that locks protect: relacy reports two accesses that nothing orders.
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
  /// So many runs, each step chosen at random. The same choices each time.
  template <class Test>
  void random(const char* name, unsigned runs) {
    rl::test_params params;
    params.iteration_count = runs;
    pass<Test>(name, params);
  }

  /// All runs with at most so many switches away from a thread that could go on.
  template <class Test>
  void bounded(const char* name, unsigned switches) {
    rl::test_params params;
    params.search_type = rl::sched_bound;
    params.context_bound = switches;
    pass<Test>(name, params);
  }

  /// A fault that has to be found within so many runs.
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
