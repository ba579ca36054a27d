// Time in this library: points on the monotonic clock, so that a change of the wall clock neither
// ends a wait nor prolongs one.
#pragma once

#include <chrono>

namespace boxoffice {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

/// The deadline of a wait that has none.
constexpr Deadline kNever = Deadline::max();

/// `timeout` from now. A timeout too long for the clock is no deadline; one of zero or less has
/// passed already.
inline Deadline deadlineIn(std::chrono::nanoseconds timeout) noexcept {
  const Deadline now = Clock::now();
  return timeout >= kNever - now ? kNever : now + timeout;
}

}  // namespace boxoffice
