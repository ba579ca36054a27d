// A mutex that its holder may lock again: Preshing's recursive benaphore.
// For C++ programs: the addon does not use it.
//
// The mutex word says who holds it; depth_ counts the holder's locks. Only the holder touches depth_, so it
// needs no atomics: a hand-over of the mutex orders one holder's last access before the next holder's first.
//   depth_ == 0   not held, or handed over to a waiter that has not resumed yet
//   depth_ == n   the holder must unlock n times
//
// Between the hand-over to a waiter of an event loop and its resume, other tasks of that loop may lock the mutex,
// because their agent holds it. The first of them also counts the waiter's lock, and sets isUntold_. So their unlocks
// do not free the mutex before the waiter has had its turn.
#pragma once

#include <limits>
#include <utility>

#include "locks/mutex.h"

namespace boxoffice {

template <class P>
class BasicRecursiveMutex {
 public:
  static constexpr std::uint32_t kMaxDepth = std::numeric_limits<std::uint32_t>::max();

  /// Throws Misuse(overflow) and changes nothing when the holder's depth would pass kMaxDepth.
  Entry lock(AgentId me = P::agent()) { return lockUntil(kNever, me); }

  Entry lockFor(Timeout timeout, AgentId me = P::agent()) {
    return lockUntil(deadlineIn(timeout), me);
  }

  Entry lockUntil(Deadline deadline, AgentId me = P::agent()) {
    if (reenter(me)) return {.granted = true};
    const Entry entry = mutex_.lockUntil(deadline, me);
    if (entry) depth_ = 1;
    return entry;
  }

  Entry tryLock(AgentId me = P::agent()) {
    if (reenter(me)) return {.granted = true};
    const Entry entry = mutex_.tryLock(me);
    if (entry) depth_ = 1;
    return entry;
  }

  /// Throws Misuse(notHolder) and changes nothing when `me` does not hold the mutex, or when only a waiter that has
  /// not resumed holds it.
  void unlock(AgentId me = P::agent()) {
    if (mutex_.owner() != me || me == kNoAgent || depth_ == (isUntold_ ? 1U : 0U)) {
      throwMisuse(Fault::notHolder, "unlock of a recursive mutex that the caller does not hold");
    }
    if (--depth_ == 0) mutex_.unlock(me);
  }

  AgentId owner() const noexcept { return mutex_.owner(); }
  /// The number of times that the calling holder has locked the mutex, and has to unlock it.
  std::uint32_t depth() const noexcept { return depth_; }

  /// For callers that do not block. Returns true if the agent holds the mutex (again), as resume does.
  bool enter(Waiter& w) {
    if (reenter(w.agent)) return true;
    if (!mutex_.enter(w)) return false;
    depth_ = 1;
    return true;
  }

  bool resume(Waiter& w, Wake how) noexcept {
    if (!mutex_.resume(w, how)) return false;
    if (!std::exchange(isUntold_, false)) depth_ = 1;
    return true;
  }

  /// After Leave::admitted take the wake, call resume, then unlock.
  Leave leave(Waiter& w) { return mutex_.leave(w); }

 private:
  bool reenter(AgentId me) {
    if (mutex_.owner() != me || me == kNoAgent) return false;
    if (depth_ == kMaxDepth) throwMisuse(Fault::overflow, "recursive mutex locked too often");
    if (depth_ == 0) {
      isUntold_ = true;
      depth_ = 1;
    }
    ++depth_;
    return true;
  }

  BasicMutex<P> mutex_;
  std::uint32_t depth_ = 0;
  bool isUntold_ = false;  // depth_ counts the lock of a waiter that has not resumed yet
};

using RecursiveMutex = BasicRecursiveMutex<Platform>;

}  // namespace boxoffice
