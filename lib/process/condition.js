'use strict'
// A condition variable that threads share. A notified waiter moves from the condition's queue to the queue of its
// mutex, and does not wake up in between (src/locks/condition_variable.h).
const { kindOf, SharedLock } = require('./shared_lock.js')
const { lockError } = require('../core/errors.js')
const native = require('../addon/load.js')
const { free } = require('../core/mutex.js')
const { readWait } = require('../core/options.js')
const { checkStack, checkStackToRelease } = require('../core/stack.js')
const { setTraits, wait } = require('../core/waiter.js')
const { Waiter } = require('./waiters.js')

const idle = 0
/** The bits of the answer of C++'s waitSync. */
const { notified, abandoned } = native.layout.conditionAnswers

class SharedCondition extends SharedLock {
  constructor() {
    super(idle)
  }

  wait(mutex, options) {
    const limits = readWait(options)
    this.check(mutex)
    const refusal = this.refusal(limits.signal)
    if (refusal !== undefined) return Promise.reject(refusal)
    if (limits.timeout === 0) return Promise.reject(this.timeoutError(0))
    checkStack()
    const promise = wait(this, this.Waiter, 1, limits, mutex, this.enterFor(mutex))
    this.releaseMutex(mutex)
    return promise
  }

  /** Enters the condition's queue, and unlocks the mutex. Returns the ticket. */
  enterFor(mutex) {
    const { lender } = mutex
    const strictness = this.strictness(mutex)
    return native.condition.enter(
      this.wordIndex,
      lender.wordIndex,
      strictness,
      +lender.isDeathUndelivered,
    )
  }

  releaseMutex(mutex) {
    mutex.lender.isDeathUndelivered = false
    mutex.releaseToWait()
    mutex.lender.catchUp()
  }

  waitSync(mutex, { timeout }) {
    this.check(mutex)
    if (native.condition.isQueued(this.wordIndex)) {
      const ahead = `a promise of this thread waits for ${this.title()} and may get its mutex: blocking here would deadlock. Wait with a promise`
      throw lockError('ERR_LOCK_DEADLOCK', ahead)
    }
    if (mutex.hasWaitersHere()) throw mutex.awaitedHere()
    checkStack()
    const { lender } = mutex
    const answer = this.waitInCpp(mutex, timeout)
    lender.isDeathUndelivered = (answer & abandoned) !== 0
    mutex.lender.catchUp()
    if ((answer & notified) === 0) throw this.timeoutError(timeout)
  }

  /**
   * Blocks in C++. If a timeout of node:vm ends the wait, C++ releases the mutex and no more code here runs. So the
   * fields are set for that case first.
   */
  waitInCpp(mutex, timeout) {
    const { current, lender } = mutex
    const { isDeathUndelivered } = lender
    mutex.current = free
    lender.isDeathUndelivered = false
    try {
      return native.condition.waitSync(
        this.wordIndex,
        lender.wordIndex,
        timeout,
        this.strictness(mutex),
        +isDeathUndelivered,
      )
    } finally {
      mutex.current = current
      lender.isDeathUndelivered = isDeathUndelivered
    }
  }

  notify(isAll) {
    checkStackToRelease()
    this.dispatch(this.kind.native.notify(this.wordIndex, +isAll))
  }

  admit(waiter, isAbandoned) {
    waiter.mutex.isBack(waiter.grant, isAbandoned)
    waiter.resolve()
    this.changed()
  }

  /** Checks the stack first, because a waiter that has left must be able to enter the queue of its mutex. */
  leaveQueue(ticket) {
    checkStack()
    return super.leaveQueue(ticket)
  }

  strictness(mutex) {
    return +(this.isStrict || mutex.isStrict)
  }

  check(mutex) {
    if (!mutex.isHere()) throw mutex.notHeld()
  }
}

/** A waiter that acquires `mutex` again afterwards, under its old grant. */
class ConditionWaiter extends Waiter {
  constructor(resolve, limits, mutex, lock) {
    super(resolve, limits, mutex, lock)
    this.mutex = mutex
    this.grant = mutex.grant()
    mutex.pins++
    mutex.lender.conditionWaiters++
  }

  end() {
    this.mutex.pins--
    this.mutex.lender.conditionWaiters--
    super.end()
  }
}
setTraits(ConditionWaiter, { isToStay: true })

/** A waiter that C++ moves to the queue of its mutex when it is notified. */
class Notified extends ConditionWaiter {
  /** Rejects a waiter that timed out or was aborted, once it holds the mutex again. */
  reject(reason) {
    this.mutex.reenter(this.grant, () => super.reject(reason))
  }
}

Object.assign(SharedCondition.prototype, {
  kind: kindOf('condition variable', 'condition'),
  late: 'was not notified',
  Waiter: Notified,
})

module.exports = { SharedCondition, ConditionWaiter }
