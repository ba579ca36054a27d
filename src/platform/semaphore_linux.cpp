#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <ctime>

#include "platform/misuse.h"
#include "platform/semaphore.h"

namespace boxoffice {
namespace {

static_assert(std::endian::native == std::endian::little, "the futex is the first half of state_");
static_assert(sizeof(std::atomic<std::uint64_t>) == sizeof(std::uint64_t));

constexpr std::uint64_t kSleeper = std::uint64_t{1} << 32;

std::uint32_t count(std::uint64_t state) { return static_cast<std::uint32_t>(state); }

// Sleeps while the count is 0. May return spuriously; the caller looks again.
void futexWait(std::atomic<std::uint64_t>& state, Deadline deadline) noexcept {
  const auto since = deadline.time_since_epoch();  // steady_clock is CLOCK_MONOTONIC
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  timespec until{};
  until.tv_sec = static_cast<std::time_t>(seconds.count());
  until.tv_nsec = static_cast<long>(std::chrono::nanoseconds(since - seconds).count());
  syscall(SYS_futex, &state, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0,
          deadline == kNever ? nullptr : &until, nullptr, FUTEX_BITSET_MATCH_ANY);
}

}  // namespace

Semaphore::~Semaphore() = default;

bool Semaphore::tryWait() noexcept {
  std::uint64_t state = state_.load(std::memory_order_relaxed);
  while (count(state) > 0) {
    if (state_.compare_exchange_weak(state, state - 1, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

bool Semaphore::waitUntil(Deadline deadline) noexcept {
  if (tryWait()) return true;
  std::uint64_t state = state_.fetch_add(kSleeper, std::memory_order_relaxed) + kSleeper;
  for (;;) {
    if (count(state) > 0) {
      if (state_.compare_exchange_weak(state, state - kSleeper - 1, std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
        return true;
      }
    } else if (deadline != kNever && Clock::now() >= deadline) {
      // Leave only from a count of 0: a wake sent to this thread must not be lost to the other sleepers.
      if (state_.compare_exchange_weak(state, state - kSleeper, std::memory_order_relaxed)) {
        return false;
      }
    } else {
      futexWait(state_, deadline);
      state = state_.load(std::memory_order_relaxed);
    }
  }
}

void Semaphore::signal(int n) {
  if (n < 0) throwMisuse(Fault::badArgument, "a semaphore cannot be signalled n < 0 times");
  std::uint64_t state = state_.load(std::memory_order_relaxed);
  do {
    if (count(state) > static_cast<std::uint32_t>(kMax - n)) {
      throwMisuse(Fault::overflow, "semaphore count above its maximum");
    }
  } while (!state_.compare_exchange_weak(state, state + static_cast<std::uint32_t>(n),
                                         std::memory_order_release, std::memory_order_relaxed));
  if (state >= kSleeper) {
    syscall(SYS_futex, &state_, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, n, nullptr, nullptr, 0);
  }
}

}  // namespace boxoffice
