// Lines by the address of their word: a chained hash table that doubles when full and halves when
// nearly empty. Its bucket's lock guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "line.h"

namespace boxoffice {

/// Fibonacci hashing; the upper half is well mixed. The lot takes the topmost bits for the bucket,
/// the table the ones from bit 32 on.
inline std::uint64_t hashAddress(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) * 0x9E3779B97F4A7C15ULL;
}

class LineTable {
 public:
  LineTable() : slots_(new Line* [kFewest] {}) {}
  ~LineTable() {
    for (std::size_t i = 0; i < count_; ++i) deleteChain(slots_[i]);
    deleteChain(unused_);
  }
  LineTable(const LineTable&) = delete;
  LineTable& operator=(const LineTable&) = delete;

  std::size_t size() const noexcept { return size_; }

  Line* find(const void* address) const noexcept {
    Line* line = slot(address);
    while (line && line->address != address) line = line->chain;
    return line;
  }

  /// A line for `address`, which has none. Throws std::bad_alloc, and then nothing has changed.
  Line& add(const void* address) {
    if (!unused_) unused_ = new Line;
    if (size_ >= count_) resize(2 * count_);
    Line* line = std::exchange(unused_, unused_->chain);
    if (unusedCount_ > 0) --unusedCount_;
    line->address = address;
    line->chain = std::exchange(slot(address), line);
    ++size_;
    return *line;
  }

  /// Takes an empty line out. A few are kept for the next address.
  void remove(Line& line) noexcept {
    Line** at = &slot(line.address);
    while (*at != &line) at = &(*at)->chain;
    *at = line.chain;
    if (--size_ < count_ / 8 && count_ > kFewest) resize(count_ / 2);
    if (unusedCount_ == kUnused) {
      delete &line;
      return;
    }
    ++unusedCount_;
    line.patience = Deadline::min();
    line.chain = std::exchange(unused_, &line);
  }

 private:
  static constexpr std::size_t kFewest = 16;
  static constexpr std::size_t kUnused = 16;

  Line*& slot(const void* address) const noexcept {
    return slots_[(hashAddress(address) >> 32) & (count_ - 1)];
  }

  // Without memory the table stays as it is: right, only with longer chains.
  void resize(std::size_t count) noexcept {
    std::unique_ptr<Line*[]> old(new (std::nothrow) Line* [count] {});
    if (!old) return;
    old.swap(slots_);
    std::swap(count, count_);
    for (std::size_t i = 0; i < count; ++i) {
      for (Line* line = old[i]; line;) {
        Line* rest = line->chain;
        line->chain = std::exchange(slot(line->address), line);
        line = rest;
      }
    }
  }

  static void deleteChain(Line* line) noexcept {
    while (line) delete std::exchange(line, line->chain);
  }

  std::unique_ptr<Line*[]> slots_;
  std::size_t count_ = kFewest;
  std::size_t size_ = 0;
  Line* unused_ = nullptr;
  std::size_t unusedCount_ = 0;
};

}  // namespace boxoffice
