// The platform of the race detector: relacy simulates every operation that a primitive uses. Relacy runs the
// threads of a test as fibers, chooses the next thread at every atomic step, lets loads return any value that
// the memory model allows, and reports data races, deadlocks and livelocks.
#pragma once

#include <array>
#include <cstddef>
#include <new>
#include <source_location>

#include "boxoffice.h"

// clang-format off: last, since it makes macros of words such as memory_order_acquire, new and assert
#include <relacy/relacy.hpp>
// clang-format on

#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef errno

// Relacy replaces new and delete to watch the heap, but not these forms: without them, memory from
// one heap would be freed in the other.
inline void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return ::operator new[](size);
}
inline void operator delete[](void* p, const std::nothrow_t&) noexcept { ::operator delete[](p); }
inline void operator delete(void* p, std::size_t) noexcept { ::operator delete(p); }
inline void operator delete[](void* p, std::size_t) noexcept { ::operator delete[](p); }

namespace boxoffice::relacy {

/// The place in the code under test, for the histories that relacy prints.
using Where = std::source_location;

inline rl::debug_info debugInfo(const Where& where) {
  return {where.function_name(), where.file_name(), where.line()};
}

/// Simulates the memory orders that the code asks for.
struct AsWritten {
  static constexpr std::memory_order of(std::memory_order order) { return order; }
};

/// Drops every acquire.
struct NoAcquire {
  static constexpr std::memory_order of(std::memory_order order) {
    switch (order) {
      case std::memory_order_consume:
      case std::memory_order_acquire:
        return std::memory_order_relaxed;
      case std::memory_order_acq_rel:
        return std::memory_order_release;
      default:
        return order;
    }
  }
};

/// Drops every release.
struct NoRelease {
  static constexpr std::memory_order of(std::memory_order order) {
    switch (order) {
      case std::memory_order_release:
        return std::memory_order_relaxed;
      case std::memory_order_acq_rel:
        return std::memory_order_acquire;
      default:
        return order;
    }
  }
};

constexpr rl::memory_order relacyOrder(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return rl::mo_relaxed;
    case std::memory_order_consume:
      return rl::mo_consume;
    case std::memory_order_acquire:
      return rl::mo_acquire;
    case std::memory_order_release:
      return rl::mo_release;
    case std::memory_order_acq_rel:
      return rl::mo_acq_rel;
    default:
      return rl::mo_seq_cst;
  }
}

/// std::atomic's interface over relacy's.
template <class T, class Orders = AsWritten>
class Atomic {
  using Order = std::memory_order;

 public:
  Atomic() : Atomic(T{}) {}
  Atomic(T value) : value_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  T load(Order order = Order::seq_cst, Where where = Where::current()) const noexcept {
    return value_.load(in(order), debugInfo(where));
  }
  void store(T value, Order order = Order::seq_cst, Where where = Where::current()) noexcept {
    value_.store(value, in(order), debugInfo(where));
  }
  T exchange(T value, Order order = Order::seq_cst, Where where = Where::current()) noexcept {
    return value_.exchange(value, in(order), debugInfo(where));
  }
  T fetch_add(T n, Order order = Order::seq_cst, Where where = Where::current()) noexcept {
    return value_.fetch_add(n, in(order), debugInfo(where));
  }
  T fetch_or(T bits, Order order = Order::seq_cst, Where where = Where::current()) noexcept {
    return value_.fetch_or(bits, in(order), debugInfo(where));
  }
  T fetch_sub(T n, Order order = Order::seq_cst, Where where = Where::current()) noexcept {
    return value_.fetch_sub(n, in(order), debugInfo(where));
  }

  bool compare_exchange_weak(T& expected, T desired, Order order = Order::seq_cst,
                             Where where = Where::current()) noexcept {
    return compare_exchange_weak(expected, desired, order, onFailure(order), where);
  }
  bool compare_exchange_weak(T& expected, T desired, Order success, Order failure,
                             Where where = Where::current()) noexcept {
    check(success, failure, where);
    return value_.compare_exchange_weak(expected, desired, in(success), debugInfo(where),
                                        in(failure), debugInfo(where));
  }
  bool compare_exchange_strong(T& expected, T desired, Order order = Order::seq_cst,
                               Where where = Where::current()) noexcept {
    return compare_exchange_strong(expected, desired, order, onFailure(order), where);
  }
  bool compare_exchange_strong(T& expected, T desired, Order success, Order failure,
                               Where where = Where::current()) noexcept {
    check(success, failure, where);
    return value_.compare_exchange_strong(expected, desired, in(success), debugInfo(where),
                                          in(failure), debugInfo(where));
  }

  /// A futex: sleeps until wake. False when it timed out.
  bool sleep(bool timed) noexcept {
    return value_.wait(rl::ctx(), timed, false, $) != rl::unpark_reason_timeout;
  }
  void wake(int n) noexcept { value_.wake(rl::ctx(), n, $); }

 private:
  static constexpr rl::memory_order in(Order order) { return relacyOrder(Orders::of(order)); }

  static constexpr Order onFailure(Order order) {
    if (order == Order::acq_rel) return Order::acquire;
    return order == Order::release ? Order::relaxed : order;
  }

  // The rules of relacy: no release on failure, and no order stronger than the one on success.
  static void check(Order success, Order failure, const Where& where) {
    const bool acquires = success != Order::relaxed && success != Order::release;
    const bool legal = failure == Order::relaxed || (failure == Order::acquire && acquires) ||
                       (failure == Order::seq_cst && success == Order::seq_cst);
    RL_ASSERT_IMPL(legal, rl::test_result_user_assert_failed, "illegal failure order",
                   debugInfo(where));
  }

  rl::atomic<T> value_;
};

class Mutex {
 public:
  void lock(Where where = Where::current()) { mutex_.lock(debugInfo(where)); }
  void unlock(Where where = Where::current()) { mutex_.unlock(debugInfo(where)); }

 private:
  rl::mutex mutex_;
};

/// The operating system's semaphore, built on a futex like semaphore_linux.cpp. Relacy's own
/// semaphore orders more than ours promises, which would hide a missing release elsewhere.
class Semaphore {
 public:
  explicit Semaphore(int initial = 0) : count_(initial) {}

  void wait() noexcept { waitUntil(kNever); }

  bool waitUntil(Deadline deadline) noexcept {
    for (;;) {
      // A read-modify-write, since a load could return an old zero. No other thread runs between
      // a read of zero and the sleep.
      int count = count_.fetch_add(0, std::memory_order_relaxed);
      while (count > 0) {
        if (count_.compare_exchange_weak(count, count - 1, std::memory_order_acquire,
                                         std::memory_order_relaxed)) {
          return true;
        }
      }
      if (!count_.sleep(deadline != kNever)) return false;
    }
  }

  void signal(int n = 1) noexcept {
    count_.fetch_add(n, std::memory_order_release);
    count_.wake(n);
  }

 private:
  Atomic<int> count_;
};

constexpr int kMostThreads = 4;

/// The state that a real process has once, and its parker per thread: one instance per test run.
template <class P>
struct Stage {
  ParkingLot<P> lot;
  std::array<ThreadParker<P>, kMostThreads> parkers;
  typename P::template Atomic<int> busyWaiters{0};
  bool over = false;  ///< all threads have ended
};

/// `Self` is the derived struct; `kLooks` is the number of times a waiter rechecks before it sleeps.
template <class Self, class Orders, int kLooks>
struct SimulatedPlatform {
  template <class T>
  using Atomic = relacy::Atomic<T, Orders>;
  using Mutex = relacy::Mutex;
  using Semaphore = relacy::Semaphore;

  static constexpr int kShardBits = 0;
  static constexpr int kBusyLooks = kLooks;
  static constexpr int kYieldLooks = kLooks;

  inline static Stage<Self>* stage = nullptr;

  /// Random: before or after kSoon, so runs cover both outcomes of each deadline and each patience.
  static Deadline now() noexcept {
    return stage->over || rl::rand(2) ? kSoon + kPatience : kSoon - kPatience;
  }
  /// A deadline between the two times that now() returns.
  static constexpr Deadline kSoon{std::chrono::hours(1)};

  static void relax() noexcept { rl::yield(1, $); }
  static void yield() noexcept { rl::yield(1, $); }
  static int cores() noexcept { return 2; }
  static AgentId agent() { return rl::thread_index() + 1; }
  static Atomic<int>& busyWaiters() noexcept { return stage->busyWaiters; }
  static ParkingLot<Self>& lot() { return stage->lot; }
  static ThreadParker<Self>& parker() { return stage->parkers[rl::thread_index()]; }
};

struct RelacyPlatform : SimulatedPlatform<RelacyPlatform, AsWritten, 0> {};
struct SpinningPlatform : SimulatedPlatform<SpinningPlatform, AsWritten, 1> {};

/// Runs the same code with weaker memory orders than it asks for: a test that still passes does
/// not check memory orders.
template <class Orders>
struct WeakenedPlatform : SimulatedPlatform<WeakenedPlatform<Orders>, Orders, 0> {};

}  // namespace boxoffice::relacy
