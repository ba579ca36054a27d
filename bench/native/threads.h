#pragma once

#include <cstddef>
#include <thread>
#include <vector>

namespace bench {

/// Runs body(0) to body(count - 1), each in a thread of its own, and waits for all of them.
template <class Body>
void runThreads(int count, Body body) {
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
}

}  // namespace bench
