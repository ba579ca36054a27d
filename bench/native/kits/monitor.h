// The usual hand-written locks for a library with only mutexes and condition variables.
//   Mutex       lock, unlock, tryLock
//   Condition   wait(Mutex&), notifyOne; a wait may end without a notification
#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace bench::monitor {

template <class Mutex, class Condition>
class AutoResetEvent {
 public:
  void signal() {
    {
      const std::lock_guard guard(mutex_);
      set_ = true;
    }
    isSet_.notifyOne();
  }

  void wait() {
    const std::lock_guard guard(mutex_);
    while (!set_) isSet_.wait(mutex_);
    set_ = false;
  }

 private:
  Mutex mutex_;
  Condition isSet_;
  bool set_ = false;
};

template <class Mutex, class Condition>
class DiningPhilosophers {
 public:
  explicit DiningPhilosophers(int seats) : seats_(static_cast<std::size_t>(seats)) {}

  void begin(int seat) {
    const std::lock_guard guard(mutex_);
    Seat& mine = seats_[static_cast<std::size_t>(seat)];
    while (beside(seat, 1).eats || beside(seat, -1).eats) mine.mayEat.wait(mutex_);
    mine.eats = true;
  }

  void end(int seat) {
    {
      const std::lock_guard guard(mutex_);
      seats_[static_cast<std::size_t>(seat)].eats = false;
    }
    beside(seat, 1).mayEat.notifyOne();
    beside(seat, -1).mayEat.notifyOne();
  }

 private:
  struct Seat {
    bool eats = false;
    Condition mayEat;
  };

  Seat& beside(int seat, int step) {
    const int seats = static_cast<int>(seats_.size());
    return seats_[static_cast<std::size_t>((seat + step + seats) % seats)];
  }

  Mutex mutex_;
  std::vector<Seat> seats_;
};

template <class Mutex>
class RecursiveMutex {
 public:
  void lock() {
    if (!isMine()) {
      mutex_.lock();
      own();
    }
    ++depth_;
  }

  bool tryLock() {
    if (!isMine()) {
      if (!mutex_.tryLock()) return false;
      own();
    }
    ++depth_;
    return true;
  }

  void unlock() {
    if (--depth_ > 0) return;
    owner_.store({}, std::memory_order_relaxed);
    mutex_.unlock();
  }

 private:
  // Relaxed suffices: only a thread itself writes or removes its id.
  bool isMine() const {
    return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  void own() { owner_.store(std::this_thread::get_id(), std::memory_order_relaxed); }

  Mutex mutex_;
  std::atomic<std::thread::id> owner_{};
  int depth_ = 0;
};

}  // namespace bench::monitor
