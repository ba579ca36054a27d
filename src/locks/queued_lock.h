// The common part of the locks of every scope: the results of an attempt, queries of the queue, and the
// blocking of a thread.
#pragma once

#include "waiting/parking_lot.h"
#include "waiting/thread_parker.h"

namespace boxoffice {

/// The time for which the head of a queue may be overtaken before the lock is handed directly to it.
constexpr std::chrono::milliseconds kPatience{1};

/// The result of an attempt to acquire: `if (mutex.tryLock())`.
struct Entry {
  bool granted = false;  ///< the caller holds the lock; false: not now, or not before the deadline
  bool abandoned = false;  ///< granted, and the last holder died with it: check the protected data

  explicit operator bool() const noexcept { return granted; }
};

enum class Leave : std::uint8_t {
  left,       ///< out of the queue, with no further effect
  leftAwake,  ///< out of the queue, but a wake is on its way: take it before the waiter is destroyed
  admitted    ///< too late: the waiter holds the lock, and a wake is on its way
};

/// For a lock with check, tryEnter, enter, resume and leave (lock_word.h, host_lock.h).
template <class P, class Self>
class QueuedLock {
 public:
  static Entry entry(bool in, const Waiter& w) noexcept { return {in, in && w.abandoned}; }

  /// Whether a waiter of `agent` is in the queue of this process.
  bool isQueued(AgentId agent) const { return P::lot().isQueued(&self(), agent); }
  std::size_t queueSize() const { return P::lot().queueSize(&self()); }

  /// Blocks the calling thread until w is in, or the deadline has passed (false).
  bool enterBlocking(Waiter& w, Deadline deadline) {
    self().check(w);
    if (self().tryEnter(w)) return true;
    if (deadline != kNever && deadline <= P::now()) return false;
    if (P::lot().spin(&self())([&] { return self().tryEnter(w); })) return true;
    auto& parker = P::parker();
    w.parker = &parker;
    return self().enter(w) || sleep(w, parker, deadline);
  }

  /// The rest of enterBlocking, for a waiter that is in the queue already.
  template <class Parker>
  bool sleep(Waiter& w, Parker& parker, Deadline deadline) {
    for (;;) {
      if (!parker.waitUntil(deadline)) {
        const Leave how = self().leave(w);
        if (how != Leave::left) parker.take();
        return how == Leave::admitted && self().resume(w, Wake::admitted);
      }
      if (self().resume(w, parker.how())) return true;
    }
  }

 protected:
  QueuedLock() = default;
  ~QueuedLock() = default;

  static void startPatience(WaitQueue& queue) noexcept { queue.patience = P::now() + kPatience; }

  /// Call after `head`, the head of the queue, was admitted.
  static void passedHead(WaitQueue& queue, const Waiter& head) noexcept {
    if (queue.empty()) return;
    // The patience does not restart for the next waiter of the same agent: as the head it is next at once.
    if (queue.head()->agent == head.agent) {
      queue.patience = Deadline::min();
    } else {
      startPatience(queue);
    }
  }

 private:
  Self& self() noexcept { return static_cast<Self&>(*this); }
  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

}  // namespace boxoffice
