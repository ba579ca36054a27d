// Allocations that fail when a test wants them to: see failing_memory.cpp.
#pragma once

#include <new>
#include <utility>

namespace boxoffice::test {

/// The number of this thread's allocations that still succeed before one fails; -1: all succeed.
extern thread_local int failNewIn;

/// Runs `step` repeatedly: in run n, its nth allocation fails. Calls `check()` after each failure. Ends
/// with the first run without a failure, and returns the number of failed runs.
template <class Step, class Check>
int atEachAllocation(Step&& step, Check&& check) {
  for (int which = 0;; ++which) {
    try {
      failNewIn = which;
      step();
      failNewIn = -1;
      return which;
    } catch (const std::bad_alloc&) {
      failNewIn = -1;
      check();
    }
  }
}

}  // namespace boxoffice::test
