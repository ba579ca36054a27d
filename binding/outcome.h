// The answers of an attempt to enter, other than a ticket. Known to lib/process/waiters.js.
#pragma once

#include <chrono>

#include "locks/lock_word.h"

namespace boxoffice::binding {

enum Outcome : std::int32_t {
  kGranted = -1,
  kGrantedAbandoned = -2,
  kNotGranted = -3,
  kRefused = -4,
  kStolen = -5
};

inline std::int32_t outcomeOf(bool in, const Waiter& w) {
  if (!in) return kNotGranted;
  return w.abandoned ? kGrantedAbandoned : kGranted;
}

/// `ms` from now; no deadline for Infinity or an equally long time.
inline Deadline deadlineAfter(double ms) {
  constexpr double kLongest = 1e12;  // some 30 years
  if (ms > kLongest) return kNever;
  return deadlineIn(std::chrono::nanoseconds(static_cast<std::int64_t>(ms * 1e6)));
}

}  // namespace boxoffice::binding
