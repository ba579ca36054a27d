// Waiting without blocking costs the same for any number of waiters, in one queue or in many. This
// library only; all waiters belong to one agent, as in one event loop.
#include <memory>
#include <vector>

#include "benches.h"
#include "locks/mutex.h"
#include "waiting/waiter.h"

namespace bench {
namespace {

using boxoffice::Mutex;
using boxoffice::Waiter;
using boxoffice::Wake;

constexpr boxoffice::AgentId kMe = 1;

// Stands for an event loop: remembers the last admitted waiter.
class Loop final : public boxoffice::Parker {
 public:
  void wake(Waiter& waiter, Wake how) noexcept override {
    admitted_ = &waiter;
    how_ = how;
  }

  // The waiter admitted by the last unlock, which holds the mutex.
  Waiter& resume(Mutex& mutex) {
    mutex.resume(*admitted_, how_);
    return *admitted_;
  }

 private:
  Waiter* admitted_ = nullptr;
  Wake how_ = Wake::admitted;
};

std::vector<std::unique_ptr<Waiter>> waitersOf(Loop& loop, std::int64_t count) {
  std::vector<std::unique_ptr<Waiter>> waiters;
  waiters.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    waiters.push_back(std::make_unique<Waiter>(loop, kMe));
  }
  return waiters;
}

// A held mutex, with a queue of the given length.
class LongQueue {
 public:
  explicit LongQueue(std::int64_t length) : waiters_(waitersOf(loop_, length)) {
    mutex_.lock(kMe);
    for (auto& waiter : waiters_) mutex_.enter(*waiter);
  }
  ~LongQueue() {
    for (auto& waiter : waiters_) mutex_.leave(*waiter);
    mutex_.unlock(kMe);
  }
  LongQueue(const LongQueue&) = delete;
  LongQueue& operator=(const LongQueue&) = delete;

  Mutex& mutex() { return mutex_; }
  Loop& loop() { return loop_; }

 private:
  Loop loop_;
  Mutex mutex_;
  std::vector<std::unique_ptr<Waiter>> waiters_;
};

// The head is admitted and goes to the end of the queue: each waiter in turn, so the time grows by
// a cache miss if the queue does not fit into the cache.
void enterAdmit(benchmark::State& state) {
  LongQueue queue(state.range(0));
  for (auto _ : state) {
    queue.mutex().unlock(kMe);
    queue.mutex().enter(queue.loop().resume(queue.mutex()));
  }
}

// One waiter arrives last and gives up.
void enterLeave(benchmark::State& state) {
  LongQueue queue(state.range(0));
  Waiter waiter(queue.loop(), kMe);
  for (auto _ : state) {
    queue.mutex().enter(waiter);
    queue.mutex().leave(waiter);
  }
}

// So many held mutexes, each with one waiter. The work rotates over a few of them, spread over all,
// so that the bench measures the number of queues and not the cache.
void manyQueues(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t kFew = 64;
  Loop loop;
  std::vector<Mutex> mutexes(count);
  const auto waiters = waitersOf(loop, state.range(0));
  for (std::size_t i = 0; i < count; ++i) {
    mutexes[i].lock(kMe);
    mutexes[i].enter(*waiters[i]);
  }
  const std::size_t stride = count > kFew ? count / kFew : 1;
  std::size_t i = 0;
  for (auto _ : state) {
    mutexes[i].unlock(kMe);
    mutexes[i].enter(loop.resume(mutexes[i]));
    i = i + stride < count ? i + stride : 0;
  }
  for (i = 0; i < count; ++i) {
    mutexes[i].leave(*waiters[i]);
    mutexes[i].unlock(kMe);
  }
}

void add(const char* what, void (*body)(benchmark::State&), std::int64_t most) {
  auto* bench = benchmark::RegisterBenchmark(what, body);
  for (std::int64_t n = 1; n <= most; n *= 10) bench->Arg(n);
}

}  // namespace

void addQueues() {
  add("queues/one_queue_enter_admit/ours", enterAdmit, 100'000);
  add("queues/one_queue_enter_leave/ours", enterLeave, 100'000);
  add("queues/many_queues_enter_admit/ours", manyQueues, 1'000'000);
}

}  // namespace bench
