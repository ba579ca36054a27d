// Test 4: four threads, one access in four is a write. Writers fill an array with consecutive
// numbers, readers check that they are consecutive.
#pragma once

#include <array>
#include <atomic>

#include "suite/dice.h"

namespace bench {

template <class Kit>
class RWLock {
 public:
  static constexpr const char* kName = "rw_lock";
  static constexpr int kThreads = 4;
  static constexpr int kTurns = 1'000'000;  // as in the article's suite

  void play(int me) {
    Dice dice(me);
    for (int i = 0; i < kTurns; ++i) {
      if (dice.upTo(3) == 0) {
        write(dice.upTo(kLargest));
      } else if (!readsRight()) {
        right_ = false;
      }
    }
  }

  bool isRight() const { return right_; }

 private:
  static constexpr int kLargest = 1'000'000'000;

  void write(int first) {
    lock_.lockWrite();
    // Backwards, so that a reader that walks in meets two halves.
    for (std::size_t i = shared_.size(); i-- > 0;) shared_[i] = first + static_cast<int>(i);
    lock_.unlockWrite();
  }

  bool readsRight() {
    bool right = true;
    lock_.lockRead();
    for (std::size_t i = 1; i < shared_.size(); ++i) {
      right = right && shared_[i] == shared_[0] + static_cast<int>(i);
    }
    lock_.unlockRead();
    return right;
  }

  typename Kit::RWLock lock_;
  std::array<int, 8> shared_{0, 1, 2, 3, 4, 5, 6, 7};
  std::atomic<bool> right_ = true;
};

}  // namespace bench
