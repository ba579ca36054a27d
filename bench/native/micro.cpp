// One operation at a time: the cost of an uncontended lock, and of a hand-off.
#include <atomic>
#include <thread>

#include "benches.h"
#include "kits/all.h"

namespace bench {
namespace {

template <class Kit>
void lockUnlock(benchmark::State& state) {
  typename Kit::Mutex mutex;
  for (auto _ : state) {
    mutex.lock();
    mutex.unlock();
  }
}

template <class Kit>
void readLockUnlock(benchmark::State& state) {
  typename Kit::RWLock lock;
  for (auto _ : state) {
    lock.lockRead();
    lock.unlockRead();
  }
}

template <class Kit>
void signalWait(benchmark::State& state) {
  typename Kit::Semaphore semaphore;
  for (auto _ : state) {
    semaphore.signal();
    semaphore.wait();
  }
}

/// There and back between two threads: two hand-offs.
template <class Kit>
void roundTrip(benchmark::State& state) {
  typename Kit::AutoResetEvent there;
  typename Kit::AutoResetEvent back;
  std::atomic<bool> over = false;
  std::jthread partner([&] {
    for (;;) {
      there.wait();
      if (over) return;
      back.signal();
    }
  });
  for (auto _ : state) {
    there.signal();
    back.wait();
  }
  over = true;
  there.signal();
}

template <class Kit>
void add(const char* what, void (*body)(benchmark::State&)) {
  benchmark::RegisterBenchmark(benchName<Kit>(std::string("micro/") + what).c_str(), body)
      ->UseRealTime();
}

}  // namespace

void addMicro() {
  AllKits::each([]<class Kit>() {
    if constexpr (HasMutex<Kit>) add<Kit>("lock_unlock", lockUnlock<Kit>);
    if constexpr (HasRWLock<Kit>) add<Kit>("read_lock_unlock", readLockUnlock<Kit>);
    if constexpr (HasSemaphore<Kit>) add<Kit>("signal_wait", signalWait<Kit>);
    if constexpr (HasAutoResetEvent<Kit>) add<Kit>("round_trip", roundTrip<Kit>);
  });
}

}  // namespace bench
