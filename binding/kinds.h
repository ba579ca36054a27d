// What the binding has to know of each kind of lock apart from its methods: how it begins, and what
// becomes of it when an environment ends.
#pragma once

#include <algorithm>
#include <thread>

#include "host/lock_kinds.h"
#include "locks/auto_reset_event.h"
#include "locks/barrier.h"
#include "locks/condition_variable.h"
#include "locks/countdown_latch.h"
#include "locks/lock_table.h"
#include "locks/lock_word.h"
#include "locks/manual_reset_event.h"
#include "locks/mutex.h"
#include "locks/rw_lock.h"
#include "locks/weighted_semaphore.h"

namespace boxoffice::binding {

// Of whatever scope: they have the same methods.
template <class Lock>
concept AnyMutex = std::is_same_v<Lock, Mutex> || std::is_same_v<Lock, host::HostMutex>;
template <class Lock>
concept AnySemaphore =
    std::is_same_v<Lock, WeightedSemaphore> || std::is_same_v<Lock, host::HostSemaphore>;
template <class Lock>
concept AnyRWLock = std::is_same_v<Lock, RWLock> || std::is_same_v<Lock, host::HostRWLock>;
template <class Lock>
concept NeverHeld = std::is_same_v<Lock, AutoResetEvent> ||
    std::is_same_v<Lock, ManualResetEvent> || std::is_same_v<Lock, ConditionVariable> ||
    std::is_same_v<Lock, CountdownLatch> || std::is_same_v<Lock, BarrierWord>;

/// Asking for one of these may admit other waiters of its process, whose turn had come and whose wake-up was
/// still on its way.
template <class Lock>
constexpr bool kAdmitsWhenAsked =
    std::is_same_v<Lock, host::HostMutex> || std::is_same_v<Lock, host::HostSemaphore> ||
    std::is_same_v<Lock, host::HostRWLock>;

struct Kind {
  /// `w` leaves its queue, or has been admitted.
  Leave (*quit)(void* lock, Waiter& w);
  /// An admission has come too late: the next one gets it.
  void (*passOn)(void* lock, const Waiter& w);
  /// `agent` has died, and held so much of it.
  void (*abandon)(void* lock, AgentId agent, std::int64_t held);
  /// Whether the death of `agent` would make a difference.
  bool (*isHeld)(void* lock, AgentId agent, std::int64_t held);
  /// See kIsCounted and taken, below.
  bool isCounted = false;
  std::int32_t (*taken)(const Waiter& w) = nullptr;
  /// How many it takes where threads share it (lock_table.h).
  std::size_t words = 2;
};

// None of these throws: another thread may have changed the lock meanwhile. A death that `w` was to be
// told of is for the next one.
template <AnyMutex Lock>
void passOn(Lock& mutex, const Waiter& w) {
  if (w.abandoned) {
    mutex.abandon(w.agent);
  } else if (mutex.owner() == w.agent) {
    mutex.unlock(w.agent);
  }
}
template <AnySemaphore Lock>
void passOn(Lock& semaphore, const Waiter& w) {
  const auto weight = static_cast<std::int32_t>(w.ask);
  if (w.abandoned) return semaphore.reclaim(weight, Lock::kMax);
  try {
    semaphore.release(weight, w.agent);
  } catch (const Misuse&) {
    // Another thread has set the value to its maximum meanwhile.
  }
}
template <AnyRWLock Lock>
void passOn(Lock& lock, const Waiter& w) {
  if (w.ask == RWLockRules::kRead) {
    lock.abandonReads(1, w.abandoned);
    return;
  }
  if (lock.writer() != w.agent) return;
  // Who upgraded reads on: its environment counts it as a reader still.
  if (w.ask == RWLockRules::kUpgrade) return lock.downgrade(w.agent, w.abandoned);
  if (w.abandoned) {
    lock.abandon(w.agent);
  } else {
    lock.unlockWrite(w.agent);
  }
}
inline void passOn(AutoResetEvent& event, const Waiter& w) { event.signal(w.agent); }
inline void passOn(ManualResetEvent&, const Waiter&) {}
inline void passOn(CountdownLatch&, const Waiter&) {}
inline void passOn(BarrierWord&, const Waiter&) {}
/// A waiter that was notified and died has not seen the condition: another one has to.
inline void passOn(ConditionVariable& condition, const Waiter& w) {
  passOn(*static_cast<Mutex*>(w.then), w);
  condition.notifyOne();
}

template <class Lock>
Leave quit(Lock& lock, Waiter& w) {
  return lock.leave(w);
}
inline Leave quit(ConditionVariable& condition, Waiter& w) {
  if (condition.leave(w)) return Leave::left;
  const Leave how = ConditionVariable::leaveMutex(w);
  if (how != Leave::admitted) condition.notifyOne();
  return how;
}

template <NeverHeld Lock>
void abandon(Lock&, AgentId, std::int64_t) {}
template <AnyMutex Lock>
void abandon(Lock& mutex, AgentId agent, std::int64_t) {
  mutex.abandon(agent);
}
inline void abandon(WeightedSemaphore& semaphore, AgentId, std::int64_t held) {
  const std::uint32_t start = reinterpret_cast<SharedWord*>(&semaphore)[1];
  const std::int64_t most = WeightedSemaphore::kMax;
  semaphore.reclaim(static_cast<std::int32_t>(std::min(held, most)),
                    WeightedSemaphoreRules::value(start));
}
inline void abandon(host::HostSemaphore& semaphore, AgentId, std::int64_t held) {
  const std::int64_t most = WeightedSemaphore::kMax;
  // Never more than its process holds: what was taken as a signal stays taken.
  semaphore.reclaim(static_cast<std::int32_t>(std::min(held, most)), WeightedSemaphore::kMax);
}
template <AnyRWLock Lock>
void abandon(Lock& lock, AgentId agent, std::int64_t reads) {
  lock.abandon(agent);
  lock.abandonReads(static_cast<std::uint32_t>(reads));
}

template <NeverHeld Lock>
bool isHeld(const Lock&, AgentId, std::int64_t) {
  return false;
}
template <AnyMutex Lock>
bool isHeld(const Lock& mutex, AgentId agent, std::int64_t) {
  return mutex.owner() == agent;
}
template <AnySemaphore Lock>
bool isHeld(const Lock&, AgentId, std::int64_t held) {
  return held > 0;
}
template <AnyRWLock Lock>
bool isHeld(const Lock& lock, AgentId agent, std::int64_t reads) {
  return reads > 0 || lock.writer() == agent;
}

/// Whether the word does not say who holds how much of it, so that environments have to count.
template <class Lock>
constexpr bool kIsCounted = AnySemaphore<Lock> || AnyRWLock<Lock>;

/// How much more of a counted lock its environment holds once `w` is in.
template <class Lock>
std::int32_t taken(const Waiter& w) {
  if constexpr (AnySemaphore<Lock>) return static_cast<std::int32_t>(w.ask);
  if constexpr (AnyRWLock<Lock>) {
    if (w.ask == RWLockRules::kRead) return 1;
    return w.ask == RWLockRules::kUpgrade ? -1 : 0;  // the read that it had
  }
  return 0;
}

/// One word is enough for those that always begin as 0.
template <class Lock>
constexpr bool kBeginsAsZero =
    std::is_same_v<Lock, Mutex> || std::is_same_v<Lock, ConditionVariable> ||
    std::is_same_v<Lock, RWLock>;

template <class Lock>
constexpr Kind kKind{
    .quit = [](void* lock, Waiter& w) { return quit(*static_cast<Lock*>(lock), w); },
    .passOn = [](void* lock, const Waiter& w) { passOn(*static_cast<Lock*>(lock), w); },
    .abandon = [](void* lock, AgentId agent,
                  std::int64_t held) { abandon(*static_cast<Lock*>(lock), agent, held); },
    .isHeld = [](void* lock, AgentId agent,
                 std::int64_t held) { return isHeld(*static_cast<Lock*>(lock), agent, held); },
    .isCounted = kIsCounted<Lock>,
    .taken = taken<Lock>,
    .words = kBeginsAsZero<Lock> ? 1U : 2U};

/// The kind of lock that JavaScript knows by this number (LockKind). Misuse(badArgument) for others.
const Kind& kindOf(std::int32_t number);
/// That of the locks of such a segment.
const Kind& kindOf(host::Kind kind);

}  // namespace boxoffice::binding
