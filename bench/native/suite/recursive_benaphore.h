// Test 2: four threads walk randomly between zero and three nested locks of one recursive mutex,
// half the time by tryLock, and count while they hold it.
#pragma once

#include <atomic>

#include "suite/dice.h"

namespace bench {

template <class Kit>
class RecursiveBenaphore {
 public:
  static constexpr const char* kName = "recursive_benaphore";
  static constexpr int kThreads = 4;
  static constexpr int kTurns = 100'000;  // as in the article's suite

  void play(int me) {
    Dice dice(me);
    int depth = 0;
    int lastSeen = 0;
    int added = 0;
    for (int i = 0; i < kTurns; ++i) {
      dice.work(dice.upTo(2));
      if (depth > 0 && value_ != lastSeen) right_ = false;  // another thread was in

      const int wanted = dice.biased(4);
      const bool patient = dice.upTo(1) == 1;
      for (; depth > wanted; --depth) mutex_.unlock();
      for (; depth < wanted && enter(patient); ++depth) continue;

      if (depth > 0) {
        value_ += me + 1;
        added += me + 1;
        lastSeen = value_;
      }
    }
    for (; depth > 0; --depth) mutex_.unlock();
    added_ += added;
  }

  bool isRight() const { return right_ && value_ == added_; }

 private:
  bool enter(bool patient) {
    if (!patient) return static_cast<bool>(mutex_.tryLock());
    mutex_.lock();
    return true;
  }

  typename Kit::RecursiveMutex mutex_;
  int value_ = 0;
  std::atomic<int> added_ = 0;
  std::atomic<bool> right_ = true;
};

}  // namespace bench
