// Memory that runs out when a test says so: see failing_memory.cpp.
#pragma once

#include <new>
#include <utility>

namespace boxoffice::test {

/// How many allocations of this thread are still to succeed before one fails; -1: all do.
extern thread_local int failNewIn;

/// Runs `step` until none of its allocations fails: first the first of them does, then the second...
/// After each failure, `check()`. How many failed.
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
