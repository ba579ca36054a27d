// The lock-reduced dining philosophers of Preshing's article, re-made from its description.
//
// Four bits per seat in one word: 0 thinks, 1 eats, a higher number waits for neighbours with lower
// numbers. Sitting down takes the higher neighbour's number plus 1. Getting up lowers, outward on
// both sides, the numbers of the philosophers that waited for it.
//
// Known faults, kept: at most seven seats, at least three. Corrected: compare-and-swap is acq_rel,
// so that an edge leads from a finished eater to a neighbour that need not wait.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench::article {

template <class Semaphore>
class DiningPhilosophers {
 public:
  explicit DiningPhilosophers(int seats)
      : seats_(seats), semaphores_(static_cast<std::size_t>(seats)) {}

  void begin(int seat) {
    unsigned ahead;
    change([&](Word word) {
      ahead = std::max(get(word, beside(seat, 1)), get(word, beside(seat, -1)));
      return set(word, seat, ahead + 1);
    });
    if (ahead > 0) semaphores_[static_cast<std::size_t>(seat)].wait();
  }

  void end(int seat) {
    int first;
    int second;
    bool firstEats;
    bool secondEats;
    change([&](Word word) {
      word = set(word, seat, 0);
      // The neighbour that has waited longer goes first: it may keep the other one, across the
      // ring, waiting.
      int step = get(word, beside(seat, 1)) > get(word, beside(seat, -1)) ? -1 : 1;
      first = beside(seat, step);
      second = beside(seat, -step);
      firstEats = lower(word, first, step);
      secondEats = lower(word, second, -step);
      return word;
    });
    if (firstEats) semaphores_[static_cast<std::size_t>(first)].signal();
    if (secondEats) semaphores_[static_cast<std::size_t>(second)].signal();
  }

 private:
  using Word = std::uint32_t;

  // Lowers `seat` to 1, and the seats behind it, unless another neighbour keeps them waiting. True:
  // `seat` eats.
  bool lower(Word& word, int seat, int step) const {
    bool eats = false;
    for (unsigned target = 1; get(word, seat) == target + 1; ++target) {
      const int next = beside(seat, step);
      if (get(word, next) == target) break;
      word = set(word, seat, target);
      if (target == 1) eats = true;
      seat = next;
    }
    return eats;
  }

  template <class Step>
  void change(Step step) {
    Word word = word_.load(std::memory_order_relaxed);
    while (!word_.compare_exchange_strong(word, step(word), std::memory_order_acq_rel,
                                          std::memory_order_relaxed)) {
    }
  }

  int beside(int seat, int step) const { return (seat + step + seats_) % seats_; }

  static unsigned get(Word word, int seat) { return (word >> (4 * seat)) & 15U; }
  static Word set(Word word, int seat, unsigned status) {
    return (word & ~(15U << (4 * seat))) | (status << (4 * seat));
  }

  const int seats_;
  std::atomic<Word> word_ = 0;
  std::vector<Semaphore> semaphores_;
};

}  // namespace bench::article
