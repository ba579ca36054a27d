// The operations that the primitives use. Each primitive is a template over such a struct, so that the same
// code runs on real threads and under a race detector's scheduler (test/relacy).
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "platform/clock.h"
#include "platform/cpu.h"
#include "platform/process_wide.h"
#include "platform/semaphore.h"
#include "waiting/agent.h"

namespace boxoffice {

template <class P>
class ParkingLot;
template <class P>
class ThreadParker;

/// Real threads. `Self` is the derived struct. Each derived struct has its own parking lot.
template <class Self>
struct NativePlatform {
  template <class T>
  using Atomic = std::atomic<T>;
  using Mutex = std::mutex;
  using Semaphore = boxoffice::Semaphore;

  static constexpr int kShardBits = 6;
  static constexpr int kBusyLooks = 100;  // of about 40 ns: a short critical section elsewhere
  static constexpr int kYieldLooks = 16;  // of about 0.5 us: less than a sleep and a wake-up

  static Deadline now() noexcept { return Clock::now(); }
  static void relax() noexcept { cpuRelax(); }
  static void yield() noexcept { std::this_thread::yield(); }
  static int cores() noexcept { return static_cast<int>(coreCount()); }
  static AgentId agent() { return thisThread(); }

  /// The number of threads of this process that busy-wait.
  static std::atomic<int>& busyWaiters() noexcept {
    static std::atomic<int> count{0};
    return count;
  }

  static ParkingLot<Self>& lot() { return processWide<ParkingLot<Self>>(); }

  static ThreadParker<Self>& parker() {
    thread_local ThreadParker<Self> parker;
    return parker;
  }
};

struct Platform : NativePlatform<Platform> {};

/// A platform without spinning, to measure the effect of spinning.
struct NoSpinPlatform : NativePlatform<NoSpinPlatform> {
  static constexpr int kBusyLooks = 0;
  static constexpr int kYieldLooks = 0;
};

}  // namespace boxoffice
