// The operating system's counting semaphore: the only thing here that blocks a thread. One .cpp per system
// implements it; the build chooses.
//
// state_ is the only member. macOS and Windows keep the handle of a kernel semaphore in it. On Linux it is the
// semaphore itself, for a futex:
//
//     63 ........... 32 | 31 ........... 0
//     threads asleep    | count, the futex
//
//   wait     count > 0: count - 1. Else: asleep + 1, sleep while the count is 0, look again, and take the count
//            and leave the sleepers in one compare-and-swap
//   signal   count + n; if there were sleepers, wake n of them
// Invariant: count + waits that returned = initial + signals. signal's release pairs with the acquire of the
// wait that takes the count.
// Lifetime: after its addition to state_, signal uses only the address. If the thread that took the count has
// destroyed the semaphore by then, the wake goes to an address without a sleeper, or to a sleeper that looks
// again and sleeps on. The kernel semaphores do the same in one call.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "platform/clock.h"
#include "platform/misuse.h"

namespace boxoffice {

class Semaphore {
 public:
  static constexpr int kMax = std::numeric_limits<int>::max();

  /// Throws Misuse(badArgument) when `initial` is negative, std::bad_alloc when the system refuses.
#ifdef __linux__
  constexpr explicit Semaphore(int initial = 0) : state_(static_cast<std::uint64_t>(initial)) {
    if (initial < 0) throwMisuse(Fault::badArgument, "a semaphore starts with a count >= 0");
  }
#else
  explicit Semaphore(int initial = 0);
#endif
  ~Semaphore();
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  void wait() noexcept { waitUntil(kNever); }
  bool tryWait() noexcept;

  /// False when `timeout` passed first. A timeout of zero or less never sleeps.
  bool waitFor(Timeout timeout) noexcept {
    return timeout.length() <= timeout.length().zero() ? tryWait() : waitUntil(deadlineIn(timeout));
  }
  bool waitUntil(Deadline deadline) noexcept;

  /// Throws Misuse(badArgument) when n is negative, Misuse(overflow) when the count would pass kMax; then
  /// nothing has changed.
  void signal(int n = 1);

 private:
  std::atomic<std::uint64_t> state_;
};

}  // namespace boxoffice
