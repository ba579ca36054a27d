// A set of the processes that share a directory, by process slot: a copy of a SharedProcessSet, or a work
// list.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "host/layout.h"

namespace boxoffice::host {

class ProcessSet {
 public:
  ProcessSet() = default;
  explicit ProcessSet(const SharedProcessSet& set) noexcept
      : words_{set.words[0].load(), set.words[1].load()} {}

  bool has(ProcessSlot process) const noexcept {
    return (words_[process >> 6 & 1] & bit(process)) != 0;
  }
  bool empty() const noexcept { return (words_[0] | words_[1]) == 0; }
  void add(ProcessSlot process) noexcept { words_[process >> 6 & 1] |= bit(process); }
  void remove(ProcessSlot process) noexcept { words_[process >> 6 & 1] &= ~bit(process); }

  int size() const noexcept { return std::popcount(words_[0]) + std::popcount(words_[1]); }
  template <class Use>
  void each(Use&& use) const {
    for (ProcessSlot process = 1; process <= kMaxProcess; ++process) {
      if (has(process)) use(process);
    }
  }

  /// Returns the next process slot after `process`, wrapping around. Call it only when the set is not empty().
  ProcessSlot behind(ProcessSlot process) const noexcept {
    do {
      process = static_cast<ProcessSlot>((process + 1) % kProcessSlots);
    } while (!has(process));
    return process;
  }

 private:
  static std::uint64_t bit(ProcessSlot process) noexcept {
    return std::uint64_t{1} << (process & 63);
  }
  std::array<std::uint64_t, 2> words_{};
};

}  // namespace boxoffice::host
