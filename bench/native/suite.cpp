// The five tests of the article's suite, re-made from their description, for every kit. A run is one
// iteration: the time of the whole test, starting its threads included, as in the article.
#include "benches.h"
#include "kits/all.h"
#include "suite/auto_reset_event.h"
#include "suite/benaphore.h"
#include "suite/dining_philosophers.h"
#include "suite/recursive_benaphore.h"
#include "suite/rw_lock.h"
#include "threads.h"

namespace bench {
namespace {

template <class Test>
void runTest(benchmark::State& state) {
  for (auto _ : state) {
    Test test;
    runThreads(Test::kThreads, [&test](int i) { test.play(i); });
    if (!test.isRight()) {
      state.SkipWithError("the lock did not keep what it promises");
      break;
    }
  }
}

// The same work by the same threads, but each with its own lock: the duration of the test if
// waiting costs nothing. No design can be faster.
template <class Test>
void runApart(benchmark::State& state) {
  for (auto _ : state) {
    runThreads(Test::kThreads, [](int i) {
      Test test;
      test.play(i);
    });
  }
}

template <class Test>
void add(const char* kit, void (*run)(benchmark::State&) = runTest<Test>) {
  benchmark::RegisterBenchmark((std::string("suite/") + Test::kName + "/" + kit).c_str(), run)
      ->Iterations(1)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

template <class Test>
void addApart() {
  add<Test>("apart", runApart<Test>);
}

}  // namespace

void addSuite() {
  AllKits::each([]<class Kit>() {
    if constexpr (HasMutex<Kit>) add<Benaphore<Kit>>(Kit::kName);
    if constexpr (HasRecursiveMutex<Kit>) add<RecursiveBenaphore<Kit>>(Kit::kName);
    if constexpr (HasAutoResetEvent<Kit>) add<AutoResetEvent<Kit>>(Kit::kName);
    if constexpr (HasRWLock<Kit>) add<RWLock<Kit>>(Kit::kName);
    if constexpr (HasDiningPhilosophers<Kit>) add<DiningPhilosophers<Kit>>(Kit::kName);
  });
  addApart<Benaphore<Ours>>();
  addApart<RecursiveBenaphore<Ours>>();
  addApart<RWLock<Ours>>();
  addApart<DiningPhilosophers<Ours>>();
}

}  // namespace bench
