// Shared by the native tests: access to words and queues, fake clocks, and agents that wait without
// blocking.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <ostream>
#include <thread>
#include <vector>

#include "boxoffice.h"

namespace boxoffice::test {

constexpr std::uint32_t kRead = RWLockRules::kRead;
constexpr std::uint32_t kWrite = RWLockRules::kWrite;

// Agents without a thread. Threads' ids stay far below these.
constexpr AgentId kAnna = 1'000'001;
constexpr AgentId kBen = 1'000'002;
constexpr AgentId kCleo = 1'000'003;

/// Returns the fault of the Misuse that `step` throws, if it throws one.
template <class Step>
std::optional<Fault> faultOf(Step&& step) {
  try {
    step();
  } catch (const Misuse& misuse) {
    return misuse.fault();
  }
  return std::nullopt;
}

/// The word of a lock as JavaScript sees it: four bytes of shared memory.
template <class Lock>
std::atomic_ref<std::uint32_t> wordOf(Lock& lock) {
  return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(&lock));
}

/// The length of the queue of the word at `address`.
template <class P>
std::size_t queueSizeAt(const void* address) {
  auto bucket = P::lot().open(address);
  return bucket.empty() ? 0 : bucket.queue().size();
}

template <class P>
void awaitQueue(const void* address, std::size_t size) {
  while (queueSizeAt<P>(address) != size) std::this_thread::yield();
}

template <class Condition>
void await(Condition&& condition) {
  while (!condition()) std::this_thread::yield();
}

/// A clock that only the test advances, so that tests of fairness do not depend on timing.
struct FakeClockPlatform : NativePlatform<FakeClockPlatform> {
  static inline std::atomic<Deadline> time{Deadline{} + std::chrono::hours(1)};

  static Deadline now() noexcept { return time.load(); }
  static void pass(std::chrono::nanoseconds duration) { time.store(time.load() + duration); }
};

/// A stopped event loop: it records its wakes, and the test acts on them.
class Notes final : public Parker {
 public:
  struct Note {
    Waiter* waiter;
    Wake how;
    bool operator==(const Note&) const = default;
    friend std::ostream& operator<<(std::ostream& out, const Note& note) {
      return out << (note.how == Wake::admitted ? "admitted " : "invited ") << note.waiter;
    }
  };

  void wake(Waiter& waiter, Wake how) noexcept override {
    const std::lock_guard guard(mutex_);
    notes_.push_back({&waiter, how});
  }

  /// The wakes since the last call.
  std::vector<Note> take() {
    const std::lock_guard guard(mutex_);
    return std::exchange(notes_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Note> notes_;
};

using Heard = std::vector<Notes::Note>;

inline Notes::Note admitted(Waiter& w) { return {&w, Wake::admitted}; }
inline Notes::Note invited(Waiter& w) { return {&w, Wake::invited}; }

/// Constructs a waiter with its options in one expression.
struct Asking : Waiter {
  Asking(Parker& whom, AgentId who, std::uint32_t what = 1, double rank = 0) : Waiter(whom, who) {
    ask = what;
    priority = rank;
  }
};

}  // namespace boxoffice::test
