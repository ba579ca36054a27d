// A small amount of random work, for each thread of a test.
#pragma once

#include <random>

namespace bench {

/// One thread's dice. Seeded with its number, so that every kit and every run gets the same load.
class Dice {
 public:
  explicit Dice(int seed) : random_(static_cast<unsigned>(seed) + 1) {}

  int upTo(int most) { return std::uniform_int_distribution<>(0, most)(random_); }

  /// In [0, limit), small numbers more often.
  int biased(int limit) {
    const float f = std::uniform_real_distribution<float>(0.f, 1.f)(random_);
    return static_cast<int>(f * f * static_cast<float>(limit));
  }

  /// A unit of work is one step of the generator, a few nanoseconds.
  void work(int units) {
    for (int i = 0; i < units; ++i) random_();
  }

 private:
  std::mt19937 random_;
};

}  // namespace bench
