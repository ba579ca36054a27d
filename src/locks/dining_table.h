// The rule of the dining philosophers, independent of the storage of its bits.
// For C++ programs: the addon does not use it.
//
// n philosophers sit in a ring; fork i lies between i and its right neighbour. Per philosopher one
// bit, per fork one bit:
//     active(i)   i is hungry or eats
//     first(i)    of the two at fork i, the right one is the first (else the left one)
//
// i may eat when it is active and first at both of its forks; a neighbour that thinks does not count. A
// philosopher that sits down lets active neighbours be first. So each fork is first come, first served, the
// forks' order never closes a ring (it follows the times of sitting down), and no philosopher starves.
// Getting up clears one bit: it may let the two neighbours eat, no others.
//
//   thinking ──sit──▶ hungry ──(both forks)──▶ eating ──rise──▶ thinking
//                        └───────rise (gave up)────────▶ thinking
//
// Invariant: two neighbours may never eat at once, since only one of them is first at their fork.
// One philosopher has no neighbour; two share both forks.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace boxoffice {

/// The neighbours that may eat now that a philosopher got up.
struct Fed {
  int count = 0;
  int seat[2] = {};
};

template <class Bits>
class DiningTable {
 public:
  explicit DiningTable(int seats, Bits bits = {}) : seats_(seats), bits_(std::move(bits)) {}

  const Bits& bits() const noexcept { return bits_; }
  bool active(int i) const { return bits_.active(i); }

  bool mayEat(int i) const {
    if (!active(i)) return false;
    if (seats_ == 1) return true;
    const bool rightWaits = !active(right(i)) || !bits_.rightFirst(i);
    const bool leftWaits = !active(left(i)) || bits_.rightFirst(left(i));
    return leftWaits && rightWaits;
  }

  void sit(int i) {
    if (seats_ > 1) {
      bits_.setRightFirst(i, active(right(i)));
      bits_.setRightFirst(left(i), !active(left(i)));
    }
    bits_.setActive(i, true);
  }

  /// Whether `sit(i)` would let i eat at once.
  bool wouldEat(int i) const { return seats_ == 1 || (!active(left(i)) && !active(right(i))); }

  Fed rise(int i) {
    const int neighbours[] = {left(i), right(i)};
    const bool ate[] = {mayEat(neighbours[0]), mayEat(neighbours[1])};
    bits_.setActive(i, false);
    Fed fed;
    for (int k = 0; k < (neighbours[0] == neighbours[1] ? 1 : 2); ++k) {
      if (!ate[k] && mayEat(neighbours[k])) fed.seat[fed.count++] = neighbours[k];
    }
    return fed;
  }

 private:
  int left(int i) const { return (i == 0 ? seats_ : i) - 1; }
  int right(int i) const { return i + 1 == seats_ ? 0 : i + 1; }

  int seats_;
  Bits bits_;
};

/// Bits for up to 32 philosophers in one word, for compare-and-swap.
class PackedSeats {
 public:
  static constexpr int kMaxSeats = 32;

  explicit PackedSeats(std::uint64_t word = 0) : word_(word) {}
  std::uint64_t word() const noexcept { return word_; }

  bool active(int i) const { return (word_ >> i) & 1; }
  bool rightFirst(int i) const { return (word_ >> (kMaxSeats + i)) & 1; }
  void setActive(int i, bool on) { set(i, on); }
  void setRightFirst(int i, bool on) { set(kMaxSeats + i, on); }

 private:
  void set(int bit, bool on) {
    const std::uint64_t mask = std::uint64_t{1} << bit;
    word_ = on ? word_ | mask : word_ & ~mask;
  }

  std::uint64_t word_;
};

/// Bits for any number of philosophers.
class ListedSeats {
 public:
  explicit ListedSeats(int seats = 0)
      : active_(static_cast<std::size_t>(seats)), rightFirst_(active_.size()) {}

  bool active(int i) const { return active_[static_cast<std::size_t>(i)]; }
  bool rightFirst(int i) const { return rightFirst_[static_cast<std::size_t>(i)]; }
  void setActive(int i, bool on) { active_[static_cast<std::size_t>(i)] = on; }
  void setRightFirst(int i, bool on) { rightFirst_[static_cast<std::size_t>(i)] = on; }

 private:
  std::vector<bool> active_;
  std::vector<bool> rightFirst_;
};

}  // namespace boxoffice
