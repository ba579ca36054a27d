// Time in this library: points on the monotonic clock, so that a change of the wall clock neither
// ends a wait nor prolongs one.
#pragma once

#include <chrono>

namespace boxoffice {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

/// The deadline of a wait that has none.
constexpr Deadline kNever = Deadline::max();

/// How long a wait may take: a std::chrono::duration of any length. Negative lengths and NaN count as zero, lengths
/// of more than 146 years as the longest that nanoseconds can express.
class Timeout {
 public:
  template <class Rep, class Period>
  constexpr Timeout(std::chrono::duration<Rep, Period> length) noexcept
      : length_(inNanoseconds(std::chrono::duration<double, Period>(length))) {}

  constexpr std::chrono::nanoseconds length() const noexcept { return length_; }

 private:
  // Exact up to 104 days, and to a microsecond beyond. The comparisons are in the unit of `length`, whose nanoseconds
  // may be too many for a double.
  template <class Period>
  static constexpr std::chrono::nanoseconds inNanoseconds(
      std::chrono::duration<double, Period> length) noexcept {
    using std::chrono::nanoseconds;
    if (!(length.count() > 0)) return nanoseconds::zero();
    constexpr std::chrono::duration<double, Period> kMost = nanoseconds::max() / 2;
    return length < kMost ? std::chrono::duration_cast<nanoseconds>(length) : nanoseconds::max();
  }

  std::chrono::nanoseconds length_;
};

/// Returns the time `timeout` from now, or kNever if it is too long for the clock. The deadline of a zero timeout has
/// passed.
inline Deadline deadlineIn(Timeout timeout) noexcept {
  const Deadline now = Clock::now();
  return timeout.length() >= kNever - now ? kNever : now + timeout.length();
}

}  // namespace boxoffice
