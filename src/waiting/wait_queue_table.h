// The WaitQueues of a shard, by the address of their word: a chained hash table that doubles when full and
// halves when nearly empty. The shard's lock guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "waiting/wait_queue.h"

namespace boxoffice {

/// Fibonacci hashing; the upper half is well mixed. The topmost bits choose the shard, the bits from 32 on
/// the slot of its table.
inline std::uint64_t hashAddress(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) * 0x9E3779B97F4A7C15ULL;
}

class WaitQueueTable {
 public:
  WaitQueueTable() : slots_(new WaitQueue* [kFewest] {}) {}
  ~WaitQueueTable() {
    for (std::size_t i = 0; i < count_; ++i) deleteChain(slots_[i]);
    deleteChain(unused_);
  }
  WaitQueueTable(const WaitQueueTable&) = delete;
  WaitQueueTable& operator=(const WaitQueueTable&) = delete;

  std::size_t size() const noexcept { return size_; }

  WaitQueue* find(const void* address) const noexcept {
    WaitQueue* queue = slot(address);
    while (queue && queue->address != address) queue = queue->chain;
    return queue;
  }

  /// Makes a queue for `address`, which has none. If it throws std::bad_alloc, nothing has changed.
  WaitQueue& add(const void* address) {
    if (!unused_) unused_ = new WaitQueue;
    if (size_ >= count_) resize(2 * count_);
    WaitQueue* queue = std::exchange(unused_, unused_->chain);
    if (unusedCount_ > 0) --unusedCount_;
    queue->address = address;
    queue->chain = std::exchange(slot(address), queue);
    ++size_;
    return *queue;
  }

  /// Takes an empty queue out. A few are kept for the next address.
  void remove(WaitQueue& queue) noexcept {
    WaitQueue** at = &slot(queue.address);
    while (*at != &queue) at = &(*at)->chain;
    *at = queue.chain;
    if (--size_ < count_ / 8 && count_ > kFewest) resize(count_ / 2);
    if (unusedCount_ == kUnused) {
      delete &queue;
      return;
    }
    ++unusedCount_;
    queue.patience = Deadline::min();
    queue.chain = std::exchange(unused_, &queue);
  }

 private:
  static constexpr std::size_t kFewest = 16;
  static constexpr std::size_t kUnused = 16;

  WaitQueue*& slot(const void* address) const noexcept {
    return slots_[(hashAddress(address) >> 32) & (count_ - 1)];
  }

  // Without memory the table keeps its size. That is correct, but the chains are longer.
  void resize(std::size_t count) noexcept {
    std::unique_ptr<WaitQueue*[]> old(new (std::nothrow) WaitQueue* [count] {});
    if (!old) return;
    old.swap(slots_);
    std::swap(count, count_);
    for (std::size_t i = 0; i < count; ++i) {
      for (WaitQueue* queue = old[i]; queue;) {
        WaitQueue* rest = queue->chain;
        queue->chain = std::exchange(slot(queue->address), queue);
        queue = rest;
      }
    }
  }

  static void deleteChain(WaitQueue* queue) noexcept {
    while (queue) delete std::exchange(queue, queue->chain);
  }

  std::unique_ptr<WaitQueue*[]> slots_;
  std::size_t count_ = kFewest;
  std::size_t size_ = 0;
  WaitQueue* unused_ = nullptr;
  std::size_t unusedCount_ = 0;
};

}  // namespace boxoffice
