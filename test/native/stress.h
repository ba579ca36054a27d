// Shared by the stress tests. In each, kThreads threads use one primitive, which guards plain, non-atomic
// data: two holders at once show up as a wrong sum, and as a data race under ThreadSanitizer.
#pragma once

#include <array>
#include <functional>
#include <random>

#include "support.h"

namespace boxoffice::test {

constexpr int kThreads = 8;

/// Sanitizers slow the tests down, and find faults in fewer rounds.
constexpr int rounds(int natively) {
#if defined(__SANITIZE_THREAD__)
  return natively / 4;
#elif defined(__SANITIZE_ADDRESS__)
  return natively / 2;
#else
  return natively;
#endif
}

/// Random numbers of one thread: the same in every run.
class Dice {
 public:
  explicit Dice(int seed) : random_(static_cast<unsigned>(seed) + 1) {}

  /// A number from 0 to sides - 1.
  int operator()(int sides) { return static_cast<int>(random_() % static_cast<unsigned>(sides)); }
  std::chrono::nanoseconds upTo(std::chrono::nanoseconds most) {
    return std::chrono::nanoseconds((*this)(static_cast<int>(most.count()) + 1));
  }
  /// Waits for a random time: often zero, sometimes long enough to be preempted.
  void dwell() {
    const int time = (*this)(256);
    if (time == 0) std::this_thread::yield();
    for (int i = 0; i < time % 32; ++i) Platform::relax();
  }

 private:
  std::minstd_rand random_;
};

/// Runs `work(index, dice)` in `count` threads, and joins them.
template <class Work>
void inThreads(int count, Work&& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&work, i] {
      Dice dice(i);
      work(i, dice);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// The longest time that a test repeats its rounds to reach the case it tests. That case needs threads that
/// overlap, and a busy machine may run each thread to its end before it starts the next.
constexpr std::chrono::minutes kPatienceForMeetings{5};

template <class Met, class Step>
void againUntil(Met&& met, Step&& step) {
  const Deadline end = Clock::now() + kPatienceForMeetings;
  do {
    step();
  } while (!met() && Clock::now() < end);
}

/// Repeats inThreads until `met()`.
template <class Met, class Work>
void inThreadsUntil(Met&& met, int count, Work&& work) {
  againUntil(met, [&] { inThreads(count, work); });
}

/// Counts violations, and reports them in the destructor.
class Violations {
 public:
  ~Violations() { EXPECT_EQ(count_, 0); }

  void unless(bool fine) {
    if (!fine) count_.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  std::atomic<int> count_{0};
};

/// The data behind a mutex: checks that holders are alone, and are told of the previous holder's death.
class Room {
 public:
  void enter(bool toldOfDeath) {
    violations_.unless(inside_++ == 0);
    violations_.unless(toldOfDeath == died_);
    died_ = false;
    ++visits_;
  }
  void leave() { violations_.unless(--inside_ == 0); }
  void die() {
    leave();
    died_ = true;
  }
  long visits() const { return visits_; }
  bool died() const { return died_; }

 private:
  int inside_ = 0;
  bool died_ = false;
  long visits_ = 0;
  Violations violations_;
};

/// Counts the outcomes of all threads' attempts.
struct Tally {
  std::atomic<long> in{0};
  std::atomic<long> timedOut{0};
  std::atomic<long> refused{0};

  bool timed(bool granted) { return count(granted, timedOut); }
  bool tried(bool granted) { return count(granted, refused); }
  bool count(bool granted, std::atomic<long>& otherwise) {
    (granted ? in : otherwise).fetch_add(1, std::memory_order_relaxed);
    return granted;
  }
};

/// Plain data for many readers or one writer at a time.
class Book {
 public:
  int read() {
    violations_.unless(front_ == back_);
    return front_;
  }
  void write() {
    read();
    ++front_;
    Platform::relax();
    ++back_;
  }

 private:
  int front_ = 0;
  int back_ = 0;
  Violations violations_;
};

/// Checks that no queue is left in the parking lot.
template <class P>
void expectNoWaiters() {
  EXPECT_EQ(P::lot().queues(), 0U);
  EXPECT_EQ(P::busyWaiters().load(), 0);
}

}  // namespace boxoffice::test
