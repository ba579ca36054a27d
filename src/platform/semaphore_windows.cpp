#define NOMINMAX  // windows.h would make macros of min and max
#include <windows.h>

#include <algorithm>
#include <new>

#include "platform/misuse.h"
#include "platform/semaphore.h"

namespace boxoffice {
namespace {

static_assert(sizeof(HANDLE) <= sizeof(std::uint64_t));

HANDLE handle(const std::atomic<std::uint64_t>& state) {
  return reinterpret_cast<HANDLE>(
      static_cast<std::uintptr_t>(state.load(std::memory_order_relaxed)));
}

// Limited to the longest wait of one call (INFINITE is the largest value). Rounded up, since a wait that
// ends early would only be repeated.
DWORD milliseconds(Deadline deadline) {
  if (deadline == kNever) return INFINITE;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<DWORD>(std::clamp<std::int64_t>(left.count(), 0, INFINITE - 1));
}

}  // namespace

Semaphore::Semaphore(int initial) {
  if (initial < 0) throwMisuse(Fault::badArgument, "a semaphore starts with a count >= 0");
  const HANDLE semaphore = CreateSemaphoreW(nullptr, initial, kMax, nullptr);
  if (!semaphore) throw std::bad_alloc();
  state_.store(reinterpret_cast<std::uintptr_t>(semaphore), std::memory_order_relaxed);
}

Semaphore::~Semaphore() { CloseHandle(handle(state_)); }

bool Semaphore::tryWait() noexcept {
  return WaitForSingleObject(handle(state_), 0) == WAIT_OBJECT_0;
}

bool Semaphore::waitUntil(Deadline deadline) noexcept {
  for (;;) {
    if (WaitForSingleObject(handle(state_), milliseconds(deadline)) == WAIT_OBJECT_0) return true;
    if (deadline != kNever && Clock::now() >= deadline) return false;
  }
}

void Semaphore::signal(int n) {
  if (n < 0) throwMisuse(Fault::badArgument, "a semaphore cannot be signalled n < 0 times");
  if (n > 0 && !ReleaseSemaphore(handle(state_), n, nullptr)) {
    throwMisuse(Fault::overflow, "semaphore count above its maximum");
  }
}

}  // namespace boxoffice
