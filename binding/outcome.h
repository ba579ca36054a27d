// The results of functions over numbers, other than a ticket or a number of completions. JavaScript gets
// these numbers from layout.cc.
#pragma once

#include <chrono>

#include "locks/lock_word.h"

namespace boxoffice::binding {

/// The results of an attempt to enter.
enum Outcome : std::int32_t {
  kGranted = -1,
  kGrantedAbandoned = -2,
  kNotGranted = -3,
  kRefused = -4,
  kStolen = -5
};

/// The bits of the result of a condition variable's waitSync.
enum WaitAnswer : std::int32_t { kNotified = 1, kNotifiedAbandoned = 2 };

/// The results of a request of the lock manager. Its ticket, if there is one, is in the bits above.
enum RequestAnswer : std::int32_t { kWaiting, kGrantedNow, kGrantedNowAbandoned };
constexpr int kAnswerBits = 2;

/// The bits of the mode of a request. Its manner is in the bits above.
constexpr int kModeBits = 1;
/// The bit beside the mode of a request that holds its lock, where query() describes it.
constexpr std::int32_t kHeldRequest = 1 << kModeBits;

inline std::int32_t outcomeOf(bool in, const Waiter& w) {
  if (!in) return kNotGranted;
  return w.abandoned ? kGrantedAbandoned : kGranted;
}

/// Returns the time `ms` from now, or no deadline for Infinity and other very long times.
inline Deadline deadlineAfter(double ms) {
  constexpr double kLongest = 1e12;  // some 30 years
  if (ms > kLongest) return kNever;
  return deadlineIn(std::chrono::nanoseconds(static_cast<std::int64_t>(ms * 1e6)));
}

}  // namespace boxoffice::binding
