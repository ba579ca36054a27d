'use strict'
// A condition variable for promises. A waiter is in the queue of the condition, and once it is notified
// in that of its mutex, without being woken between the two (src/locks/condition_variable.h).
const { Core } = require('./core.js')
const { lockError } = require('../core/errors.js')
const native = require('../load.js')
const { readWait } = require('../core/options.js')
const { checkStack, checkStackToRelease } = require('../core/stack.js')
const { isGranted, wait, Waiter } = require('./waiters.js')

const idle = 0

class ConditionCore extends Core {
  constructor() {
    super(idle)
  }

  wait(mutex, options) {
    const limits = readWait(options)
    this.check(mutex)
    if (limits.signal?.aborted) return Promise.reject(limits.signal.reason)
    if (limits.timeout === 0) return Promise.reject(this.timeoutError(0))
    checkStack()
    const ticket = native.condition.enter(this.place, mutex.placeOfWord(), this.strictness(mutex))
    const promise = wait(this, ticket, Notified, 1, limits, mutex)
    mutex.stepAside()
    mutex.catchUp()
    return promise
  }

  /** Blocks this thread. */
  waitSync(mutex, { timeout }) {
    this.check(mutex)
    if (native.condition.stands(this.place)) {
      const ahead = `a promise of this thread waits for ${this.title()}: it may get the mutex, and could not go on`
      throw lockError('ERR_LOCK_DEADLOCK', ahead)
    }
    if (mutex.hasWaitersHere()) {
      const ahead = `a promise of this thread waits for ${mutex.title()}, and could not go on`
      throw lockError('ERR_LOCK_DEADLOCK', ahead)
    }
    checkStack()
    const outcome = native.condition.waitSync(
      this.place,
      mutex.placeOfWord(),
      timeout,
      this.strictness(mutex),
    )
    mutex.catchUp()
    if (!isGranted(outcome)) throw this.timeoutError(timeout)
  }

  notify(isAll) {
    checkStackToRelease()
    this.dispatch(native.condition.notify(this.place, +isAll))
  }

  admit(waiter) {
    waiter.comeBack()
    waiter.resolve()
    this.changed()
  }

  strictness(mutex) {
    return +(this.isStrict || mutex.isStrict)
  }

  check(mutex) {
    if (!mutex.isHere()) throw mutex.notHeld()
  }
}

const kind = { name: 'condition variable', number: 4, bytes: 4, native: native.condition }
ConditionCore.prototype.kind = kind
ConditionCore.prototype.late = 'was not notified'

class Notified extends Waiter {
  constructor(core, resolve, limits, _reject, mutex) {
    super(core, resolve, limits)
    this.mutex = mutex
    this.grant = mutex.grant()
    mutex.countConditionWaiters(+1)
  }

  end() {
    this.mutex.countConditionWaiters(-1)
    super.end()
  }

  /** It has the mutex again, by the grant that it had. */
  comeBack() {
    this.mutex.isBack(this.grant)
  }

  /** Out of time, or aborted: but not without the mutex. */
  reject(reason) {
    this.mutex.reenter(this.grant, () => super.reject(reason))
  }
}

Notified.prototype.isToStay = true

module.exports = { ConditionCore }
