// Several threads contend for one mutex for a fixed time. Throughput alone flatters a lock that
// lets one thread keep it, so this bench also reports the longest wait, and the turns of the
// poorest and the richest thread.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "benches.h"
#include "kits/all.h"
#include "threads.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kDuration{300};

struct alignas(64) Turns {
  long count = 0;
  Clock::duration longestWait{};
};

template <class Mutex>
class Contest {
 public:
  explicit Contest(int threads) : turns_(static_cast<std::size_t>(threads)) {}

  void run() {
    const std::jthread referee([this] {
      std::this_thread::sleep_for(kDuration);
      over_ = true;
    });
    runThreads(static_cast<int>(turns_.size()),
               [this](int i) { turns_[static_cast<std::size_t>(i)] = play(); });
  }

  bool isRight() const { return value_ == total(); }
  long total() const {
    long all = 0;
    for (const Turns& turns : turns_) all += turns.count;
    return all;
  }

  void report(benchmark::State& state) const {
    const auto byCount = [](const Turns& a, const Turns& b) { return a.count < b.count; };
    const auto byWait = [](const Turns& a, const Turns& b) {
      return a.longestWait < b.longestWait;
    };
    const auto [fewest, most] = std::minmax_element(turns_.begin(), turns_.end(), byCount);
    const auto wait = std::max_element(turns_.begin(), turns_.end(), byWait)->longestWait;
    state.SetItemsProcessed(total());
    state.counters["longest_wait_us"] = std::chrono::duration<double, std::micro>(wait).count();
    state.counters["fewest_turns"] = static_cast<double>(fewest->count);
    state.counters["most_turns"] = static_cast<double>(most->count);
  }

 private:
  Turns play() {
    Turns turns;
    while (!over_.load(std::memory_order_relaxed)) {
      const auto start = Clock::now();
      mutex_.lock();
      turns.longestWait = std::max(turns.longestWait, Clock::now() - start);
      ++value_;
      mutex_.unlock();
      ++turns.count;
    }
    return turns;
  }

  Mutex mutex_;
  long value_ = 0;
  std::atomic<bool> over_ = false;
  std::vector<Turns> turns_;
};

template <class Kit>
void contend(benchmark::State& state) {
  Contest<typename Kit::Mutex> contest(static_cast<int>(state.range(0)));
  for (auto _ : state) contest.run();
  contest.report(state);
  if (!contest.isRight()) state.SkipWithError("two threads were in at once");
}

}  // namespace

void addContention() {
  AllKits::each([]<class Kit>() {
    if constexpr (HasMutex<Kit>) {
      benchmark::RegisterBenchmark(benchName<Kit>("contention/mutex").c_str(), contend<Kit>)
          ->ArgName("threads")
          ->Arg(2)
          ->Arg(4)
          ->Arg(8)
          ->Iterations(1)
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
  });
}

}  // namespace bench
