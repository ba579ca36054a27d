#include <mach/mach.h>

#include <new>

#include "platform/misuse.h"
#include "platform/semaphore.h"

namespace boxoffice {
namespace {

semaphore_t handle(const std::atomic<std::uint64_t>& state) {
  return static_cast<semaphore_t>(state.load(std::memory_order_relaxed));
}

}  // namespace

Semaphore::Semaphore(int initial) {
  if (initial < 0) throwMisuse(Fault::badArgument, "a semaphore starts with a count >= 0");
  semaphore_t semaphore = MACH_PORT_NULL;
  const kern_return_t error =
      semaphore_create(mach_task_self(), &semaphore, SYNC_POLICY_FIFO, initial);
  if (error != KERN_SUCCESS) throw std::bad_alloc();
  state_.store(semaphore, std::memory_order_relaxed);
}

Semaphore::~Semaphore() { semaphore_destroy(mach_task_self(), handle(state_)); }

bool Semaphore::tryWait() noexcept {
  return semaphore_timedwait(handle(state_), mach_timespec_t{0, 0}) == KERN_SUCCESS;
}

bool Semaphore::waitUntil(Deadline deadline) noexcept {
  for (;;) {
    kern_return_t result = KERN_SUCCESS;
    if (deadline == kNever) {
      result = semaphore_wait(handle(state_));
    } else {
      // The timeout is relative, so compute it anew after a signal handler has run.
      const auto left = deadline - Clock::now();
      if (left <= left.zero()) return tryWait();
      const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
      constexpr auto kLongest = std::chrono::hours(24);  // tv_sec is unsigned, 32 bits
      const mach_timespec_t timeout =
          left > kLongest ? mach_timespec_t{24 * 60 * 60, 0}
                          : mach_timespec_t{static_cast<unsigned int>(seconds.count()),
                                            static_cast<clock_res_t>((left - seconds).count())};
      result = semaphore_timedwait(handle(state_), timeout);
    }
    if (result == KERN_SUCCESS) return true;
    // KERN_OPERATION_TIMED_OUT or KERN_ABORTED: look at the clock.
  }
}

void Semaphore::signal(int n) {
  if (n < 0) throwMisuse(Fault::badArgument, "a semaphore cannot be signalled n < 0 times");
  for (; n > 0; --n) {
    // The kernel refuses only a count above its maximum.
    if (semaphore_signal(handle(state_)) != KERN_SUCCESS) {
      throwMisuse(Fault::overflow, "semaphore count above its maximum");
    }
  }
}

}  // namespace boxoffice
