// Several mutexes at once, without deadlock: the dining philosophers' problem for any graph.
// For C++ programs: the addon does not use it.
//
// Every set locks its mutexes in the order of their addresses, each mutex once even if it is listed twice. So
// among waiting sets, the set that holds the highest locked mutex waits for none of the others: no cycle.
//
//   idle ──▶ holding the first k of n, in the queue for the next ──▶ holding all
//                 └──────── gave up: releases the k ───▶ idle
//
// If a set that holds an abandoned mutex gives up, its caller does not learn of the death: the next holder does.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <vector>

#include "locks/mutex.h"

namespace boxoffice {

/// One agent's use of a set of mutexes. Make one per caller; only the mutexes are shared.
template <class P>
class BasicLockSet {
 public:
  /// Throws Misuse(badArgument) for a null pointer.
  BasicLockSet(std::initializer_list<BasicMutex<P>*> mutexes)
      : BasicLockSet(std::vector<BasicMutex<P>*>(mutexes)) {}

  explicit BasicLockSet(std::vector<BasicMutex<P>*> mutexes) : mutexes_(std::move(mutexes)) {
    std::sort(mutexes_.begin(), mutexes_.end(), std::less<>());
    mutexes_.erase(std::unique(mutexes_.begin(), mutexes_.end()), mutexes_.end());
    if (!mutexes_.empty() && !mutexes_.front()) {
      throwMisuse(Fault::badArgument, "a lock set holds no null mutex");
    }
    wereAbandoned_.resize(mutexes_.size());
  }

  /// Waits for all. The entry is abandoned when any of them was. Throws Misuse(badArgument) when this set already
  /// holds some.
  Entry lock(AgentId me = P::agent()) { return lockUntil(kNever, me); }

  Entry lockFor(Timeout timeout, AgentId me = P::agent()) {
    return lockUntil(deadlineIn(timeout), me);
  }

  /// Locks all, or none when the deadline passes first.
  Entry lockUntil(Deadline deadline, AgentId me = P::agent()) {
    return climb([=](BasicMutex<P>& mutex) { return mutex.lockUntil(deadline, me); }, me);
  }

  /// Locks all or none, without blocking.
  Entry tryLock(AgentId me = P::agent()) {
    return climb([=](BasicMutex<P>& mutex) { return mutex.tryLock(me); }, me);
  }

  /// Unlocks all held mutexes. Throws Misuse(notHolder) and changes nothing when `me` does not hold all of them: do
  /// not unlock a single mutex of a locked set.
  void unlock(AgentId me = P::agent()) {
    for (std::size_t i = 0; i < held_; ++i) {
      if (mutexes_[i]->owner() != me || me == kNoAgent) {
        throwMisuse(Fault::notHolder, "unlock of a lock set that the caller does not hold");
      }
    }
    const bool givesUp = leaving_ || held_ < mutexes_.size();
    if (givesUp) abandoned_ = false;
    while (held_ > 0) {
      BasicMutex<P>& mutex = *mutexes_[held_ - 1];
      if (givesUp && wereAbandoned_[held_ - 1]) {
        mutex.abandon(me);
      } else {
        mutex.unlock(me);
      }
      --held_;
    }
  }

  // For callers that do not block. Returns true if all are held. After each wake, call resume to continue.
  bool enter(Waiter& w) {
    begin();
    return goOn(w);
  }

  bool resume(Waiter& w, Wake how) {
    if (!mutexes_[held_]->resume(w, how)) return false;
    took(w.abandoned);
    return leaving_ || goOn(w);  // after leave, it takes only the mutex that it was admitted to
  }

  /// Gives up: unlocks the held mutexes. With Leave::admitted the caller holds the awaited mutex too: take
  /// its wake, call resume, then unlock. Throws Misuse(notWaiting) when w is in no queue.
  Leave leave(Waiter& w) {
    if (held_ == mutexes_.size()) {
      throwMisuse(Fault::notWaiting, "this waiter waits for nothing");
    }
    const Leave how = mutexes_[held_]->leave(w);
    leaving_ = how == Leave::admitted;
    if (!leaving_) unlock(w.agent);
    return how;
  }

  std::size_t size() const noexcept { return mutexes_.size(); }
  /// Whether the last holder of any of them died with it; false once the set has given up.
  bool abandoned() const noexcept { return abandoned_; }

 private:
  void begin() {
    if (held_ > 0) throwMisuse(Fault::badArgument, "this lock set holds locks already");
    abandoned_ = false;
    leaving_ = false;
  }

  template <class LockOne>
  Entry climb(LockOne&& lockOne, AgentId me) {
    begin();
    while (held_ < mutexes_.size()) {
      Entry entry;
      try {
        entry = lockOne(*mutexes_[held_]);
      } catch (...) {
        unlock(me);
        throw;
      }
      if (!entry) {
        unlock(me);
        return entry;
      }
      took(entry.abandoned);
    }
    return {true, abandoned_};
  }

  bool goOn(Waiter& w) {
    while (held_ < mutexes_.size()) {
      try {
        if (!mutexes_[held_]->enter(w)) return false;
      } catch (...) {
        unlock(w.agent);
        throw;
      }
      took(w.abandoned);
    }
    return true;
  }

  void took(bool abandoned) noexcept {
    wereAbandoned_[held_] = abandoned;
    ++held_;
    abandoned_ = abandoned_ || abandoned;
  }

  std::vector<BasicMutex<P>*> mutexes_;
  std::vector<bool> wereAbandoned_;  // those of the first held_ mutexes whose last holder died
  std::size_t held_ = 0;
  bool abandoned_ = false;
  bool leaving_ = false;
};

using LockSet = BasicLockSet<Platform>;

}  // namespace boxoffice
