// The lot finds the line of a word by the word's address, so that a lock needs no memory beyond
// its word: a line exists only while somebody waits. After WebKit's ParkingLot and Rust's
// parking_lot.
//
//   address ──hash──▶ shard (one lock each) ──table──▶ Line
//
// All work on a line happens through a Bucket, which holds the shard's lock for its lifetime and
// sends the wakes it collected after dropping it: a woken thread does not run into our lock, and
// a Parker may call back into the lot.
#pragma once

#include <cstddef>
#include <limits>
#include <utility>

#include "line.h"
#include "line_table.h"
#include "spin.h"

namespace boxoffice {

/// How many stand in line at a word, and the priority a newcomer must exceed to go before them.
struct Queue {
  std::size_t size = 0;
  double topPriority = -std::numeric_limits<double>::infinity();
};

template <class P>
class Lot {
 private:
  struct alignas(64) Shard {
    typename P::Mutex mutex;
    LineTable lines;
  };

 public:
  class Bucket;

  Lot() = default;
  Lot(const Lot&) = delete;
  Lot& operator=(const Lot&) = delete;

  /// Locks the shard of `address` until the Bucket goes out of scope.
  Bucket open(const void* address) { return Bucket(shards_[index(address)], address); }

  /// What waiting for this word (or one that shares its shard) has taught about spinning.
  AdaptiveSpin<P>& spin(const void* address) noexcept { return spins_[index(address)]; }

  Queue queue(const void* address);

  /// Does a waiter of `agent` stand in line at `address`?
  bool stands(const void* address, AgentId agent);

  /// Lines in the whole lot: how many words somebody waits for.
  std::size_t lines() {
    std::size_t all = 0;
    for (Shard& shard : shards_) {
      shard.mutex.lock();
      all += shard.lines.size();
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
class Lot<P>::Bucket {
 public:
  ~Bucket() {
    if (line_ && line_->empty()) shard_.lines.remove(*line_);
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

  bool empty() const noexcept { return !line_; }

  /// The line; only when not empty().
  Line& line() noexcept { return *line_; }

  /// The line, made if there is none. Throws std::bad_alloc, and then nothing has changed.
  Line& obtainLine() {
    if (!line_) line_ = &shard_.lines.add(address_);
    return *line_;
  }

  /// Takes a waiter out of the line as admitted; it is woken when the bucket closes, unless it
  /// was invited: then that wake, sent or about to be, is the one that finds it admitted.
  void admit(Waiter& w) noexcept {
    const bool awake = w.state == Waiter::State::invited;
    line_->leave(w);
    w.state = Waiter::State::admitted;
    if (!awake) admitted_.pushBack(w);
  }

  /// Wakes a waiter that stays in line, to compete for the free word. At most once per bucket.
  void invite(Waiter& w) noexcept {
    line_->invite(w);
    invited_ = &w;
  }

 private:
  friend class Lot;

  Bucket(Shard& shard, const void* address) : shard_(shard), address_(address) {
    shard_.mutex.lock();
    line_ = shard_.lines.find(address);
  }

  Shard& shard_;
  const void* const address_;
  Line* line_;
  Fifo admitted_;
  Waiter* invited_ = nullptr;
};

template <class P>
Queue Lot<P>::queue(const void* address) {
  auto bucket = open(address);
  if (bucket.empty()) return {};
  return {bucket.line().size(), bucket.line().topPriority()};
}

template <class P>
bool Lot<P>::stands(const void* address, AgentId agent) {
  auto bucket = open(address);
  return !bucket.empty() && bucket.line().find(agent);
}

}  // namespace boxoffice
