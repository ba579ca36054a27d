// Test 3: four threads in rounds. One, the kicker, signals the events of the other three. All count
// down, and the last thread to do so is the kicker of the next round.
#pragma once

#include <atomic>
#include <vector>

#include "suite/dice.h"

namespace bench {

template <class Kit>
class AutoResetEvent {
 public:
  static constexpr const char* kName = "auto_reset_event";
  static constexpr int kThreads = 4;
  // The article's suite has 1,000,000, which take 12 to 30 s on two cores: multiply by 20 to
  // compare with its times.
  static constexpr int kRounds = 50'000;

  void play(int me) {
    Dice dice(me);
    bool isKicker = me == 0;
    for (int round = 0; round < kRounds; ++round) {
      if (isKicker) {
        kick(me, round);
      } else {
        events_[static_cast<std::size_t>(me)].wait();
      }
      // Not atomic: the event must order the kicker's write, and an extra signal shows as a round
      // too early.
      if (round_ != round) right_ = false;
      // Release and acquire: the next kicker writes round_ after all threads have read it.
      const int left = countdown_.fetch_sub(1, std::memory_order_acq_rel) - 1;
      if (left < 0) right_ = false;
      isKicker = left == 0;
      dice.work(dice.biased(10));
    }
  }

  bool isRight() const { return right_; }

 private:
  void kick(int me, int round) {
    round_ = round;
    countdown_.store(kThreads, std::memory_order_relaxed);
    for (int i = 0; i < kThreads; ++i) {
      if (i != me) events_[static_cast<std::size_t>(i)].signal();
    }
  }

  using Events = std::vector<typename Kit::AutoResetEvent>;
  Events events_ = Events(kThreads);
  std::atomic<int> countdown_ = 0;
  int round_ = -1;
  std::atomic<bool> right_ = true;
};

}  // namespace bench
