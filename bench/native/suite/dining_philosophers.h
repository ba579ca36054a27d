// Test 5: five philosophers think a little and eat for long. An eater must have both forks to
// itself.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>

#include "suite/dice.h"

namespace bench {

template <class Kit>
class DiningPhilosophers {
 public:
  static constexpr const char* kName = "dining_philosophers";
  static constexpr int kThreads = 5;
  static constexpr int kMeals = 10'000;  // as in the article's suite

  void play(int seat) {
    Dice dice(seat);
    Fork& left = forks_[static_cast<std::size_t>(seat)];
    Fork& right = forks_[static_cast<std::size_t>((seat + 1) % kThreads)];
    for (int i = 0; i < kMeals; ++i) {
      dice.work(dice.upTo(100));
      table_.begin(seat);
      if (!left.take() || !right.take()) right_ = false;
      dice.work(dice.upTo(5000));
      left.lay();
      right.lay();
      table_.end(seat);
    }
  }

  bool isRight() const {
    return right_ && std::all_of(forks_.begin(), forks_.end(),
                                 [](const Fork& fork) { return fork.meals == 2 * kMeals; });
  }

 private:
  struct Fork {
    // Atomic, but never awaited: the write before and after the meal must really happen.
    std::atomic<bool> taken = false;
    // Not atomic: each neighbour must see the other's writes, even if it did not wait.
    int meals = 0;

    bool take() {
      const bool wasFree = !taken.load(std::memory_order_relaxed);
      taken.store(true, std::memory_order_relaxed);
      ++meals;
      return wasFree;
    }
    void lay() { taken.store(false, std::memory_order_relaxed); }
  };

  typename Kit::DiningPhilosophers table_{kThreads};
  std::array<Fork, kThreads> forks_;
  std::atomic<bool> right_ = true;
};

}  // namespace bench
