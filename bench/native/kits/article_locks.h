// The box offices of Preshing's article over a semaphore of choice, re-made from its description as
// a yardstick. Known faults of their speed and limits stay; memory orders are corrected, as long as
// that is free.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace bench::article {

// Counts the holder and the waiters. A release that leaves waiters admits one of them.
// Known fault, kept: every release with a waiter is a hand-off, hence a context switch.
template <class Semaphore>
class Mutex {
 public:
  void lock() {
    if (inside_.fetch_add(1, std::memory_order_acquire) > 0) semaphore_.wait();
  }
  void unlock() {
    if (inside_.fetch_sub(1, std::memory_order_release) > 1) semaphore_.signal();
  }

 private:
  std::atomic<int> inside_ = 0;
  Semaphore semaphore_;
};

// The same, but the holder bypasses its own bouncer.
template <class Semaphore>
class RecursiveMutex {
 public:
  void lock() {
    const auto me = std::this_thread::get_id();
    if (inside_.fetch_add(1, std::memory_order_acquire) > 0 && !isHeldBy(me)) semaphore_.wait();
    enter(me);
  }

  bool tryLock() {
    const auto me = std::this_thread::get_id();
    if (isHeldBy(me)) {
      inside_.fetch_add(1, std::memory_order_relaxed);
    } else {
      int nobody = 0;
      if (inside_.load(std::memory_order_relaxed) != 0 ||
          !inside_.compare_exchange_strong(nobody, 1, std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
        return false;
      }
    }
    enter(me);
    return true;
  }

  void unlock() {
    const bool leaves = --depth_ == 0;
    if (leaves) owner_.store({}, std::memory_order_relaxed);
    if (inside_.fetch_sub(1, std::memory_order_release) > 1 && leaves) semaphore_.signal();
  }

 private:
  bool isHeldBy(std::thread::id id) const { return owner_.load(std::memory_order_relaxed) == id; }
  void enter(std::thread::id me) {
    owner_.store(me, std::memory_order_relaxed);
    ++depth_;
  }

  std::atomic<int> inside_ = 0;
  std::atomic<std::thread::id> owner_{};
  int depth_ = 0;
  Semaphore semaphore_;
};

/// status_: 1 set; 0 not set; -n not set and n wait.
// Known fault, kept: a signal that finds the event set stores nothing. So it does not order its
// thread's earlier writes before the thread that takes the event.
template <class Semaphore>
class AutoResetEvent {
 public:
  void signal() {
    int status = status_.load(std::memory_order_relaxed);
    do {
      if (status == 1) return;
    } while (!status_.compare_exchange_weak(status, status + 1, std::memory_order_release,
                                            std::memory_order_relaxed));
    if (status < 0) semaphore_.signal();
  }

  void wait() {
    if (status_.fetch_sub(1, std::memory_order_acquire) < 1) semaphore_.wait();
  }

 private:
  std::atomic<int> status_ = 0;
  Semaphore semaphore_;
};

/// Readers, waiting readers and writers as three counts of ten bits. Readers and writers take turns
/// in batches.
/// Known fault, kept: nothing in a release build stops the 1,024th reader from overflowing into the
/// count beside it. Mended: the last of several readers hands the others' releases on (acq_rel).
template <class Semaphore>
class RWLock {
 public:
  void lockRead() {
    std::uint32_t word = word_.load(std::memory_order_relaxed);
    std::uint32_t next;
    do {
      next = word + (word >= kWriter ? kWaitingReader : kReader);
    } while (!word_.compare_exchange_weak(word, next, std::memory_order_acquire,
                                          std::memory_order_relaxed));
    if (word >= kWriter) readers_.wait();
  }

  void unlockRead() {
    const std::uint32_t word = word_.fetch_sub(kReader, std::memory_order_acq_rel);
    if ((word & kCount) == 1 && word >= kWriter) writers_.signal();
  }

  void lockWrite() {
    const std::uint32_t word = word_.fetch_add(kWriter, std::memory_order_acquire);
    if ((word & kCount) > 0 || word >= kWriter) writers_.wait();
  }

  void unlockWrite() {
    std::uint32_t word = word_.load(std::memory_order_relaxed);
    std::uint32_t waiting;
    std::uint32_t next;
    do {
      waiting = (word / kWaitingReader) & kCount;
      next = word - kWriter - waiting * kWaitingReader + waiting * kReader;
    } while (!word_.compare_exchange_weak(word, next, std::memory_order_release,
                                          std::memory_order_relaxed));
    if (waiting > 0) {
      readers_.signal(static_cast<int>(waiting));
    } else if (word >= 2 * kWriter) {
      writers_.signal();
    }
  }

 private:
  static constexpr std::uint32_t kReader = 1;
  static constexpr std::uint32_t kWaitingReader = 1U << 10;
  static constexpr std::uint32_t kWriter = 1U << 20;
  static constexpr std::uint32_t kCount = kWaitingReader - 1;

  std::atomic<std::uint32_t> word_ = 0;
  Semaphore readers_;
  Semaphore writers_;
};

}  // namespace bench::article
