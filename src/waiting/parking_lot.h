// Finds the queue of a word by the word's address, so that a lock needs no memory beyond its word: a queue
// exists only while a waiter is in it. After WebKit's ParkingLot and Rust's parking_lot.
//
//   address ──hash──▶ shard (one lock each) ──table──▶ WaitQueue
//
// All work on a queue happens through a Bucket, which holds the shard's lock for its lifetime. It sends the
// wakes that it has collected after it has released that lock. So a woken thread need not wait for the lock, and a
// Parker may call back into the parking lot.
#pragma once

#include <cstddef>
#include <utility>

#include "waiting/spin.h"
#include "waiting/wait_queue.h"
#include "waiting/wait_queue_table.h"

namespace boxoffice {

template <class P>
class ParkingLot {
 private:
  struct alignas(64) Shard {
    typename P::Mutex mutex;
    WaitQueueTable queues;
  };

 public:
  class Bucket;

  ParkingLot() = default;
  ParkingLot(const ParkingLot&) = delete;
  ParkingLot& operator=(const ParkingLot&) = delete;

  /// Locks the shard of `address` until the Bucket goes out of scope.
  Bucket open(const void* address) { return Bucket(shards_[index(address)], address); }

  /// The spin budgets learned from earlier waits for this word, or for words of the same shard.
  AdaptiveSpin<P>& spin(const void* address) noexcept { return spins_[index(address)]; }

  /// The number of waiters in the queue at `address`.
  std::size_t queueSize(const void* address);

  /// Whether a waiter of `agent` is in the queue at `address`.
  bool isQueued(const void* address, AgentId agent);

  /// The number of queues, one for each word with a waiter.
  std::size_t queues() {
    std::size_t all = 0;
    for (Shard& shard : shards_) {
      shard.mutex.lock();
      all += shard.queues.size();
      shard.mutex.unlock();
    }
    return all;
  }

 private:
  static constexpr std::size_t index(const void* address) noexcept {
    return P::kShardBits == 0 ? 0 : hashAddress(address) >> (64 - P::kShardBits);
  }

  Shard shards_[std::size_t{1} << P::kShardBits];
  AdaptiveSpin<P> spins_[std::size_t{1} << P::kShardBits];
};

template <class P>
class ParkingLot<P>::Bucket {
 public:
  ~Bucket() {
    if (queue_ && queue_->empty()) shard_.queues.remove(*queue_);
    shard_.mutex.unlock();
    if (invited_) invited_->parker->wake(*invited_, Wake::invited);
    for (Waiter* w = admitted_.head; w;) {
      Waiter* next = w->next;  // once woken, w may be gone
      w->parker->wake(*w, Wake::admitted);
      w = next;
    }
  }
  Bucket(const Bucket&) = delete;
  Bucket& operator=(const Bucket&) = delete;

  bool empty() const noexcept { return !queue_; }

  /// The queue. Call this only when not empty().
  WaitQueue& queue() noexcept { return *queue_; }

  /// Returns the queue, and makes it if there is none. If it throws std::bad_alloc, nothing has changed.
  WaitQueue& obtainQueue() {
    if (!queue_) queue_ = &shard_.queues.add(address_);
    return *queue_;
  }

  /// Takes a waiter out of the queue as admitted, and wakes it when the bucket closes. An invited waiter
  /// gets no second wake: its pending wake finds it admitted.
  void admit(Waiter& w) noexcept {
    const bool awake = w.state == Waiter::State::invited;
    queue_->leave(w);
    w.state = Waiter::State::admitted;
    if (!awake) admitted_.pushBack(w);
  }

  /// Wakes a waiter that stays in the queue, to compete for the free word. At most once per bucket.
  void invite(Waiter& w) noexcept {
    queue_->invite(w);
    invited_ = &w;
  }

 private:
  friend class ParkingLot;

  Bucket(Shard& shard, const void* address) : shard_(shard), address_(address) {
    shard_.mutex.lock();
    queue_ = shard_.queues.find(address);
  }

  Shard& shard_;
  const void* const address_;
  WaitQueue* queue_;
  Fifo admitted_;
  Waiter* invited_ = nullptr;
};

template <class P>
std::size_t ParkingLot<P>::queueSize(const void* address) {
  auto bucket = open(address);
  return bucket.empty() ? 0 : bucket.queue().size();
}

template <class P>
bool ParkingLot<P>::isQueued(const void* address, AgentId agent) {
  auto bucket = open(address);
  return !bucket.empty() && bucket.queue().find(agent);
}

}  // namespace boxoffice
