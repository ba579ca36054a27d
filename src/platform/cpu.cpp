#include "platform/cpu.h"

#include <algorithm>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace boxoffice {
namespace {

unsigned countCores() noexcept {
#ifdef __linux__
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    return static_cast<unsigned>(CPU_COUNT(&allowed));
  }
#endif
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

unsigned coreCount() noexcept {
  static const unsigned count = countCores();
  return count;
}

}  // namespace boxoffice
