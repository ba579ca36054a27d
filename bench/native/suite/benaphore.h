// Test 1: four threads count under one mutex, with nothing between unlock and the next lock.
#pragma once

namespace bench {

template <class Kit>
class Benaphore {
 public:
  static constexpr const char* kName = "benaphore";
  static constexpr int kThreads = 4;
  static constexpr int kTurns = 400'000;  // as in the article's suite

  void play(int) {
    for (int i = 0; i < kTurns; ++i) {
      mutex_.lock();
      ++value_;
      mutex_.unlock();
    }
  }

  bool isRight() const { return value_ == kThreads * kTurns; }

 private:
  typename Kit::Mutex mutex_;
  int value_ = 0;
};

}  // namespace bench
