// Some of the processes that share a directory, by their seats: a copy of a SeatSet, or a list to work off.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "host/layout.h"

namespace boxoffice::host {

class Seats {
 public:
  Seats() = default;
  explicit Seats(const SeatSet& set) noexcept : words_{set.words[0].load(), set.words[1].load()} {}

  bool has(Seat seat) const noexcept { return (words_[seat >> 6 & 1] & bit(seat)) != 0; }
  bool empty() const noexcept { return (words_[0] | words_[1]) == 0; }
  void add(Seat seat) noexcept { words_[seat >> 6 & 1] |= bit(seat); }
  void remove(Seat seat) noexcept { words_[seat >> 6 & 1] &= ~bit(seat); }

  int size() const noexcept { return std::popcount(words_[0]) + std::popcount(words_[1]); }
  template <class Use>
  void each(Use&& use) const {
    for (Seat seat = 1; seat <= kMaxSeat; ++seat) {
      if (has(seat)) use(seat);
    }
  }

  /// The first behind `seat`, around the corner too; only when not empty().
  Seat behind(Seat seat) const noexcept {
    do {
      seat = static_cast<Seat>((seat + 1) % kSeats);
    } while (!has(seat));
    return seat;
  }

 private:
  static std::uint64_t bit(Seat seat) noexcept { return std::uint64_t{1} << (seat & 63); }
  std::array<std::uint64_t, 2> words_{};
};

}  // namespace boxoffice::host
