'use strict'
// A condition variable of scope host, for mutexes of scope host: src/host/host_condition.h.
//
//   wait       enters the condition's queue, then releases the mutex
//   notified   queues for the mutex, to hold it under its old grant again. The notification belongs to this process until
//              the waiter has released the mutex: if the process or thread dies before, C++ notifies another waiter
//   gives up   queues for the mutex, too, and rejects once it holds the mutex again
const { lockError } = require('../core/errors.js')
const native = require('../addon/load.js')
const { SharedCondition, ConditionWaiter } = require('../process/condition.js')
const { LentReturner } = require('../process/conditional_mutex.js')
const { inSegment } = require('./in_segment.js')

class HostCondition extends inSegment(SharedCondition, native.hostCondition) {
  enterFor() {
    return native.hostCondition.enter(this.wordIndex)
  }

  releaseMutex(mutex) {
    mutex.unlock()
  }

  waitSync() {
    const message = `${this.title()} cannot block a thread at scope 'host': use wait()`
    throw lockError('ERR_LOCK_UNSUPPORTED', message)
  }

  /** Ends a notification: C++ no longer passes it on when this process dies. */
  returned() {
    native.hostCondition.returned(this.wordIndex)
  }

  admit(waiter) {
    waiter.reacquire(true, waiter.resolve)
    this.changed()
  }

  check(mutex) {
    super.check(mutex)
    if (mutex.lender.times === undefined) return
    const message = `${mutex.title()} has a maxHold or a minHold, which a wait would cut short: use a mutex without them with ${this.title()}`
    throw lockError('ERR_LOCK_UNSUPPORTED', message)
  }
}

/** A waiter that queues for its mutex in JavaScript when its wait for the condition is over. */
class HostConditionWaiter extends ConditionWaiter {
  /** Acquires the mutex again, then calls `then`. Rejects if the mutex's files have been removed. */
  reacquire(isNotified, then) {
    const { mutex } = this
    const waiter = new HostReturner(this, isNotified, then)
    try {
      const refusal = mutex.lender.refusal()
      if (refusal !== undefined) throw refusal
      mutex.enqueue(waiter)
    } catch (error) {
      // The files have been removed, or there is no memory for a ticket.
      waiter.reject(error)
    }
  }

  /** Rejects without the mutex, which has been lost. */
  fail(reason) {
    super.reject(reason)
    if (this.mutex.idleListener !== null) this.mutex.reportIdle()
  }

  reject(reason) {
    this.reacquire(false, () => super.reject(reason))
  }
}

/** A condition's `waiter` while it is in the queue of its mutex. */
class HostReturner extends LentReturner {
  #waiter
  #isNotified

  constructor(waiter, isNotified, then) {
    super(then, null, waiter.grant)
    this.#waiter = waiter
    this.#isNotified = isNotified
  }

  enter(mutex, isAbandoned) {
    mutex.lender.returnedFrom(this.#waiter.lock, this.#isNotified)
    super.enter(mutex, isAbandoned)
  }

  reject(reason) {
    if (this.#isNotified) this.#waiter.lock.returned()
    this.#waiter.fail(reason)
  }
}

HostCondition.prototype.Waiter = HostConditionWaiter

module.exports = { HostCondition }
