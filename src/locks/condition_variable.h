// A condition variable over boxoffice::Mutex.
//
// Its word has only the queue's bit:
//     0
//     queue
//
//   wait     enters the condition's queue, unlocks the mutex, sleeps. It is queued before the unlock, so a
//            notify that follows the unlock finds it.
//   notify   moves the head (or all) of the condition's queue to the mutex: it holds the mutex at once if that is
//            free, or else enters its queue. It is woken when it holds the mutex. So no waiter wakes to find
//            the mutex taken, however many are notified.
//   give up  only while in the condition's queue. Once notified, the waiter cannot go back: the wait ends
//            with "notified", even when its deadline has passed since.
//
// `notified` changes only in the condition's bucket, so leave can tell there which queue the waiter is in.
#pragma once

#include "locks/mutex.h"

namespace boxoffice {

template <class P>
class BasicConditionVariable {
 public:
  BasicConditionVariable() = default;
  BasicConditionVariable(const BasicConditionVariable&) = delete;
  BasicConditionVariable& operator=(const BasicConditionVariable&) = delete;

  /// Unlocks the mutex, waits for a notification, and locks the mutex again. There are no spurious wake-ups, but
  /// another agent may have changed the condition meanwhile: wait in a loop, or with a predicate. Throws
  /// Misuse(notHolder) when `me` does not hold the mutex. Returns Outcome::entry, which is granted.
  Entry wait(BasicMutex<P>& mutex, AgentId me = P::agent()) {
    return waitUntil(mutex, kNever, me).entry;
  }

  struct Outcome {
    bool notified;  ///< false: the deadline passed first, or a Stop ended the wait
    Entry entry;    ///< the result of locking the mutex again; granted, unless a Stop ended that
  };

  /// As wait, until the deadline. The mutex is locked again when this returns, even after the deadline. Only a Stop
  /// (thread_parker.h) also ends the wait for the mutex. `isUndelivered` as in enter.
  Outcome waitUntil(BasicMutex<P>& mutex, Deadline deadline, AgentId me = P::agent(),
                    bool isStrict = false, bool isUndelivered = false) {
    auto& parker = P::parker();
    Waiter w(parker, me);
    w.mayBeOvertaken = !isStrict;
    enter(w, mutex, isUndelivered);
    if (!parker.waitUntil(deadline)) {
      if (leave(w)) return {false, mutex.lock(me)};
      if (!parker.waitUntil(kNever)) return {true, BasicMutex<P>::entry(stop(w, parker), w)};
    }
    const bool in = mutex.resume(w, parker.how()) || mutex.sleep(w, parker, kNever);
    return {true, BasicMutex<P>::entry(in, w)};
  }

  /// For a waiter that was notified: leaves the queue of its mutex, as BasicMutex::leave.
  static Leave leaveMutex(Waiter& w) {
    for (;;) {
      try {
        return static_cast<BasicMutex<P>*>(w.then)->leave(w);
      } catch (const Misuse&) {
        // The waiter is in neither queue: another thread is moving it from one to the other.
        P::yield();
      }
    }
  }

  /// Whether a waiter of `agent` is in the condition's queue.
  bool isQueued(AgentId agent) const {
    auto bucket = P::lot().open(this);
    return !bucket.empty() && bucket.queue().find(agent);
  }

  Outcome waitFor(BasicMutex<P>& mutex, Timeout timeout, AgentId me = P::agent()) {
    return waitUntil(mutex, deadlineIn(timeout), me);
  }

  /// Waits until `done()` is true. Returns false if it is still false after the deadline or a Stop. If a Stop also
  /// ended the wait for the mutex, returns false without calling `done()`, because the caller does not hold the
  /// mutex.
  template <class Predicate>
  bool waitUntil(BasicMutex<P>& mutex, Deadline deadline, Predicate done) {
    while (!done()) {
      const Outcome outcome = waitUntil(mutex, deadline);
      if (!outcome.entry) return false;
      if (!outcome.notified) return done();
    }
    return true;
  }

  void notifyOne() { notify(1); }
  void notifyAll() { notify(~std::size_t{0}); }

  /// For callers that do not block: enters the queue and unlocks the mutex. The mutex sends the wakes, and
  /// mutex.resume(w, how) tells when it is locked again. With `isUndelivered` the next holder is told of a death that
  /// the caller was told of.
  void enter(Waiter& w, BasicMutex<P>& mutex, bool isUndelivered = false) {
    if (mutex.owner() != w.agent || w.agent == kNoAgent) {
      throwMisuse(Fault::notHolder, "wait on a condition without holding its mutex");
    }
    w.then = &mutex;
    w.notified = false;
    {
      auto bucket = P::lot().open(this);
      bucket.obtainQueue().enter(w);
      word_.store(kQueued, std::memory_order_relaxed);
    }
    if (isUndelivered) {
      mutex.abandon(w.agent);
    } else {
      mutex.unlock(w.agent);
    }
  }

  /// Leaves the condition's queue. Returns true if the waiter was not notified, and then the mutex is not locked.
  /// Returns false if it was notified, and is on the way to the mutex or holds it.
  bool leave(Waiter& w) {
    auto bucket = P::lot().open(this);
    if (w.notified) return false;
    if (w.state != Waiter::State::waiting) {
      throwMisuse(Fault::notWaiting, "this waiter waits for nothing");
    }
    take(bucket, w);
    return true;
  }

 private:
  using Bucket = typename ParkingLot<P>::Bucket;
  static constexpr std::uint32_t kQueued = 1;

  /// After a stop (thread_parker.h) on the way to the mutex: returns whether the mutex is locked anyway.
  bool stop(Waiter& w, ThreadParker<P>& parker) {
    const Leave how = leaveMutex(w);
    if (how != Leave::left) parker.take();
    return how == Leave::admitted && static_cast<BasicMutex<P>*>(w.then)->resume(w, Wake::admitted);
  }

  void take(Bucket& bucket, Waiter& w) {
    bucket.queue().leave(w);
    if (bucket.queue().empty()) word_.store(0, std::memory_order_relaxed);
  }

  void notify(std::size_t most) {
    // An agent that has changed the condition under the mutex has seen each waiter's unlock, and so that waiter's
    // earlier store of kQueued.
    if (word_.load(std::memory_order_relaxed) == 0) return;
    Fifo chosen;
    {
      auto bucket = P::lot().open(this);
      for (std::size_t i = 0; i < most && !bucket.empty() && !bucket.queue().empty(); ++i) {
        Waiter& w = *bucket.queue().head();
        take(bucket, w);
        w.notified = true;
        chosen.pushBack(w);
      }
    }
    for (Waiter* w = chosen.head; w;) {
      Waiter* next = w->next;
      static_cast<BasicMutex<P>*>(w->then)->enterFor(*w);
      w = next;
    }
  }

  typename P::template Atomic<std::uint32_t> word_{0};
};

using ConditionVariable = BasicConditionVariable<Platform>;

}  // namespace boxoffice
