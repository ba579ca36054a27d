// Gives the locks of scope host the same calls as the locks of one process, for the tests.
#pragma once

#include "host/host_mutex.h"
#include "host/host_rw_lock.h"
#include "host/host_semaphore.h"

namespace boxoffice::test {

template <class P>
struct HostMutexForms : host::BasicHostMutex<P> {
  Entry lock(AgentId me = P::agent()) { return lockUntil(kNever, me); }
  Entry tryLock(AgentId me = P::agent()) { return lockUntil(Deadline::min(), me); }
  Entry lockFor(Timeout timeout, AgentId me = P::agent()) {
    return lockUntil(deadlineIn(timeout), me);
  }
  Entry lockUntil(Deadline deadline, AgentId me = P::agent()) {
    Waiter w;
    w.agent = me;
    return this->entry(this->enterBlocking(w, deadline), w);
  }
};

template <class P>
struct HostSemaphoreForms : host::BasicHostSemaphore<P> {
  Entry acquire(std::int32_t weight = 1) { return acquireUntil(kNever, weight); }
  Entry tryAcquire(std::int32_t weight = 1) { return acquireUntil(Deadline::min(), weight); }
  Entry acquireFor(Timeout timeout, std::int32_t weight = 1, double priority = 0) {
    return acquireUntil(deadlineIn(timeout), weight, priority);
  }
  Entry acquireUntil(Deadline deadline, std::int32_t weight = 1, double priority = 0) {
    Waiter w;
    w.agent = P::agent();
    w.ask = static_cast<std::uint32_t>(weight);
    w.priority = priority;
    return this->entry(this->enterBlocking(w, deadline), w);
  }
  /// The number of units that this process holds.
  std::uint32_t held() const { return this->slot_.held[P::process(this)].load(); }
};

template <class P>
struct HostRWLockForms : host::BasicHostRWLock<P> {
  using Upgrade = boxoffice::Upgrade;

  Entry lockRead(AgentId me = P::agent()) { return lockReadUntil(kNever, me); }
  Entry lockWrite(AgentId me = P::agent()) { return lockWriteUntil(kNever, me); }
  Entry lockReadUntil(Deadline deadline, AgentId me = P::agent()) {
    return block(RWLockRules::kRead, deadline, me);
  }
  Entry lockWriteUntil(Deadline deadline, AgentId me = P::agent()) {
    return block(RWLockRules::kWrite, deadline, me);
  }
  Entry tryLockRead(AgentId me = P::agent()) { return lockReadUntil(Deadline::min(), me); }
  Entry tryLockWrite(AgentId me = P::agent()) { return lockWriteUntil(Deadline::min(), me); }
  Entry upgrade(AgentId me = P::agent()) { return upgradeUntil(kNever, me); }
  Entry upgradeUntil(Deadline deadline, AgentId me = P::agent()) {
    Waiter w;
    w.agent = me;
    return this->entry(this->upgradeBlocking(w, deadline) == Upgrade::granted, w);
  }

 private:
  Entry block(std::uint32_t mode, Deadline deadline, AgentId me) {
    Waiter w;
    w.agent = me;
    w.ask = mode;
    return this->entry(this->enterBlocking(w, deadline), w);
  }
};

}  // namespace boxoffice::test
