'use strict'
// A condition variable of one thread, for local mutexes.
//
//   wait     the holder of a mutex enters the condition's queue and unlocks the mutex
//   notify   the head (or every waiter) moves to the mutex's queue, and holds the mutex at once if it is free
//   give up  a waiter that times out or is aborted moves to the mutex's queue, too, and rejects once it holds the
//            mutex again
//
// Until then a pin on the mutex keeps it from being idle.
//
// Invariant: when the wait ends, in any way, its caller holds the mutex again under the number of its old grant.
const { reasonOf } = require('./abort.js')
const { lockError } = require('./errors.js')
const { readWait } = require('./options.js')
const { LocalLock } = require('./lock.js')
const { checkStack } = require('./stack.js')
const { Limits, Waiter } = require('./waiter.js')

class LocalCondition extends LocalLock {
  wait(mutex, options) {
    const limits = readWait(options)
    // The caller enters the queue before it unlocks, and a failed unlock must not leave it there: so check the stack
    // first.
    checkStack()
    if (!mutex.isLocked()) throw mutex.notHeld()
    if (limits.signal?.aborted) return Promise.reject(reasonOf(limits.signal))
    if (limits.timeout === 0) return Promise.reject(this.timeoutError(0))
    const promise = this.queueUp(1, limits, ConditionWaiter, mutex)
    mutex.unlock()
    return promise
  }

  waitSync(mutex) {
    if (!mutex.isLocked()) throw mutex.notHeld()
    const alone = `only this thread can notify ${this.title()}: blocking here would deadlock. Wait with a promise`
    throw lockError('ERR_LOCK_DEADLOCK', alone)
  }

  notify(isAll) {
    checkStack()
    if (!isAll) {
      if (this.hasQueue()) this.#notify(this.queue.head)
      return
    }
    for (const waiter of this.waiters()) {
      // A subscriber to the grant of one waiter may have aborted another waiter.
      if (this.queue.has(waiter)) this.#notify(waiter)
    }
  }

  #notify(waiter) {
    this.dequeue(waiter)
    waiter.end()
    waiter.reacquire(waiter.resolve)
  }

  leave(waiter, reason) {
    this.dequeue(waiter)
    waiter.end()
    waiter.reacquire(() => waiter.reject(reason))
  }
}
LocalCondition.prototype.kind = 'condition variable'
LocalCondition.prototype.late = 'was not notified'

class ConditionWaiter extends Waiter {
  constructor(resolve, limits, mutex) {
    super(resolve, limits)
    this.mutex = mutex
    this.grant = mutex.grant()
    mutex.pins++
  }

  /** Queues for the mutex, and calls `then` once its caller holds the mutex again. */
  reacquire(then) {
    const { mutex, priority } = this
    mutex.pins--
    const limits = priority === 0 ? null : new Limits(1, priority)
    mutex.reacquire(limits, this.grant, then)
  }
}

module.exports = { LocalCondition }
