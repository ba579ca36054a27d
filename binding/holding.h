// How many units of a counted lock (kinds.h) an environment holds.
//
// The environment's thread counts with plain loads and stores, because an uncontended acquire must not pay for an
// atomic addition. Another thread that releases units of this environment adds them to `takenOff_`, with the mutex of
// the Shares held. The environment's thread settles the two, with the mutex held, before it counts again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace boxoffice::binding {

class Holding {
 public:
  Holding() = default;
  ~Holding() = default;
  // Copy only while no other thread uses either of the two.
  Holding(const Holding& other) noexcept { *this = other; }
  Holding& operator=(const Holding& other) noexcept {
    counted_.store(other.count(), std::memory_order_relaxed);
    takenOff_.store(0, std::memory_order_relaxed);
    resting = other.resting;
    return *this;
  }

  std::int64_t count() const noexcept {
    const std::int64_t taken = takenOff_.load(std::memory_order_relaxed);
    return std::max<std::int64_t>(0, counted_.load(std::memory_order_relaxed) - taken);
  }

  // For the environment's thread.

  bool isSettled() const noexcept { return takenOff_.load(std::memory_order_relaxed) == 0; }
  void settle() noexcept { *this = Holding(*this); }
  /// Adds `change`, after the two were settled. A caller may release more than was taken.
  void change(std::int64_t change) noexcept {
    const std::int64_t after = counted_.load(std::memory_order_relaxed) + change;
    counted_.store(std::max<std::int64_t>(0, after), std::memory_order_relaxed);
  }

  /// For any thread: takes up to `most` off the count, and returns how many.
  std::int64_t takeOff(std::int64_t most) noexcept {
    const std::int64_t off = std::min(most, count());
    takenOff_.store(takenOff_.load(std::memory_order_relaxed) + off, std::memory_order_relaxed);
    return off;
  }

  /// The units in the count that the environment has released, but keeps until the end of their minHold.
  std::int64_t resting = 0;

 private:
  std::atomic<std::int64_t> counted_{0};
  std::atomic<std::int64_t> takenOff_{0};
};

}  // namespace boxoffice::binding
