// What the binding knows of each kind of lock besides its methods: its initial word, and what happens
// to it when an environment ends.
#pragma once

#include <algorithm>
#include <thread>

#include "holding.h"
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

// Each concept covers the locks of every scope, which have the same methods.
template <class Lock>
concept AnyMutex = std::is_same_v<Lock, Mutex> || std::is_same_v<Lock, host::HostMutex>;
template <class Lock>
concept AnySemaphore =
    std::is_same_v<Lock, WeightedSemaphore> || std::is_same_v<Lock, host::HostSemaphore>;
template <class Lock>
concept AnyRWLock = std::is_same_v<Lock, RWLock> || std::is_same_v<Lock, host::HostRWLock>;
template <class Lock>
concept NeverHeld =
    std::is_same_v<Lock, AutoResetEvent> || std::is_same_v<Lock, ManualResetEvent> ||
    std::is_same_v<Lock, ConditionVariable> || std::is_same_v<Lock, CountdownLatch> ||
    std::is_same_v<Lock, BarrierWord> || std::is_same_v<Lock, host::HostEvent> ||
    std::is_same_v<Lock, host::HostLatch> || std::is_same_v<Lock, host::HostBarrier>;

/// Whether environments count their holds, because the word does not show how much each agent holds. A notification
/// of a condition variable of scope host counts as held until its waiter has released the mutex again.
template <class Lock>
constexpr bool kIsCounted =
    AnySemaphore<Lock> || AnyRWLock<Lock> || std::is_same_v<Lock, host::HostCondition>;

/// Whether a request for the lock may admit other waiters of its process, which are due but whose wake-up is still on
/// its way.
template <class Lock>
constexpr bool kAdmitsWhenAsked =
    std::is_same_v<Lock, host::HostMutex> || std::is_same_v<Lock, host::HostSemaphore> ||
    std::is_same_v<Lock, host::HostRWLock> || std::is_same_v<Lock, host::HostEvent> ||
    std::is_same_v<Lock, host::HostLatch> || std::is_same_v<Lock, host::HostBarrier> ||
    std::is_same_v<Lock, host::HostCondition>;

struct Kind {
  /// Takes `w` out of its queue, unless it has been admitted.
  Leave (*quit)(void* lock, Waiter& w);
  /// Passes a late admission of `w`, of which JavaScript has not been told, on to the next waiter.
  void (*passOn)(void* lock, const Waiter& w);
  /// Gives back the units or reads of `agent`, which has died.
  void (*abandon)(void* lock, AgentId agent, const Holding& held);
  /// Whether `agent` holds the lock.
  bool (*isHeld)(void* lock, AgentId agent, const Holding& held);
  /// kIsCounted and taken, below.
  bool isCounted = false;
  std::int32_t (*taken)(const Waiter& w) = nullptr;
  /// Called when JavaScript is told of an admission; null for a kind that does not need it.
  void (*accepted)(void* lock) = nullptr;
  /// The number of words of a lock that threads share (lock_table.h).
  std::size_t words = 2;
};

// These functions do not throw, even if another thread has changed the lock meanwhile. They report a death that
// `w` would have reported to the next holder.
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
    // Another thread has raised the value meanwhile, so there is no room for these units.
  }
}
template <AnyRWLock Lock>
void passOn(Lock& lock, const Waiter& w) {
  if (w.ask == RWLockRules::kRead) {
    lock.abandonReads(1, w.abandoned);
    return;
  }
  if (lock.writer() != w.agent) return;
  // An upgraded reader becomes a reader again, because its environment still counts it as one.
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
inline void passOn(host::HostEvent& event, const Waiter& w) { event.signal(w.agent); }
inline void passOn(host::HostLatch&, const Waiter&) {}
inline void passOn(host::HostBarrier&, const Waiter&) {}
inline void passOn(host::HostCondition& condition, const Waiter&) { condition.passOn(1); }
/// The dead waiter has used up a notification without checking the condition, so notify another waiter.
inline void passOn(ConditionVariable& condition, const Waiter& w) {
  passOn(*static_cast<Mutex*>(w.then), w);
  condition.notifyOne();
}

/// Passes on an admission of which JavaScript has not been told.
template <class Lock>
void passOnUndelivered(Lock& lock, const Waiter& w) {
  passOn(lock, w);
}
inline void passOnUndelivered(host::HostEvent& event, const Waiter&) { event.passOn(1); }

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

inline std::int32_t unitsOf(std::int64_t count) {
  const std::int64_t most = WeightedSemaphore::kMax;
  return static_cast<std::int32_t>(std::min(count, most));
}

template <NeverHeld Lock>
void abandon(Lock&, AgentId, const Holding&) {}
template <AnyMutex Lock>
void abandon(Lock& mutex, AgentId agent, const Holding&) {
  mutex.abandon(agent);
}
inline std::int32_t firstValue(const WeightedSemaphore& semaphore) {
  return WeightedSemaphoreRules::value(reinterpret_cast<const SharedWord*>(&semaphore)[1]);
}
/// Whether units of dead holders are put back. Units of a semaphore that began without any are signals, and are not.
inline bool returnsUnits(const WeightedSemaphore& semaphore) { return firstValue(semaphore) > 0; }
inline bool returnsUnits(const host::HostSemaphore&) { return true; }

inline void abandon(WeightedSemaphore& semaphore, AgentId, const Holding& held) {
  semaphore.reclaim(unitsOf(held.count()), firstValue(semaphore));
}
inline void abandon(host::HostSemaphore& semaphore, AgentId, const Holding& held) {
  // Put back no more than the process holds, because units taken as signals stay taken.
  semaphore.abandon(unitsOf(held.count()), unitsOf(held.resting));
}
inline void abandon(host::HostCondition& condition, AgentId, const Holding& held) {
  condition.passOn(held.count());
}
template <AnyRWLock Lock>
void abandon(Lock& lock, AgentId agent, const Holding& reads) {
  lock.abandon(agent);
  lock.abandonReads(static_cast<std::uint32_t>(reads.count()));
}

template <NeverHeld Lock>
bool isHeld(const Lock&, AgentId, const Holding&) {
  return false;
}
template <AnyMutex Lock>
bool isHeld(const Lock& mutex, AgentId agent, const Holding&) {
  return mutex.owner() == agent;
}
template <class Lock>
requires AnySemaphore<Lock> || std::is_same_v<Lock, host::HostCondition>
bool isHeld(const Lock&, AgentId, const Holding& held) { return held.count() > 0; }
template <AnyRWLock Lock>
bool isHeld(const Lock& lock, AgentId agent, const Holding& reads) {
  return reads.count() > 0 || lock.writer() == agent;
}

/// Returns by how much the environment's count of a counted lock grows when `w` is admitted.
template <class Lock>
std::int32_t taken(const Waiter& w) {
  if constexpr (std::is_same_v<Lock, host::HostCondition>) return 1;
  if constexpr (AnySemaphore<Lock>) return static_cast<std::int32_t>(w.ask);
  if constexpr (AnyRWLock<Lock>) {
    if (w.ask == RWLockRules::kRead) return 1;
    return w.ask == RWLockRules::kUpgrade ? -1 : 0;  // an upgrade gives up the read
  }
  return 0;
}

/// See Kind::accepted.
template <class Lock>
constexpr auto accepted() -> void (*)(void*) {
  if constexpr (!std::is_same_v<Lock, host::HostEvent>) return nullptr;
  return [](void* lock) { static_cast<host::HostEvent*>(lock)->accepted(); };
}

/// Whether the initial word is always 0, so that the lock needs no second word.
template <class Lock>
constexpr bool kBeginsAsZero =
    std::is_same_v<Lock, Mutex> || std::is_same_v<Lock, ConditionVariable> ||
    std::is_same_v<Lock, RWLock>;

template <class Lock>
constexpr Kind kKind{
    .quit = [](void* lock, Waiter& w) { return quit(*static_cast<Lock*>(lock), w); },
    .passOn = [](void* lock, const Waiter& w) { passOnUndelivered(*static_cast<Lock*>(lock), w); },
    .abandon = [](void* lock, AgentId agent,
                  const Holding& held) { abandon(*static_cast<Lock*>(lock), agent, held); },
    .isHeld = [](void* lock, AgentId agent,
                 const Holding& held) { return isHeld(*static_cast<Lock*>(lock), agent, held); },
    .isCounted = kIsCounted<Lock>,
    .taken = taken<Lock>,
    .accepted = accepted<Lock>(),
    .words = kBeginsAsZero<Lock> ? 1U : 2U};

/// Returns the kind for the number of a LockKind that JavaScript passes. Throws Misuse(badArgument) for other
/// numbers.
const Kind& kindOf(std::int32_t number);
/// Returns the kind of the locks in a segment of `kind`.
const Kind& kindOf(host::Kind kind);

}  // namespace boxoffice::binding
