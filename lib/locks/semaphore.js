'use strict'
const { LocalSemaphore } = require('../core/semaphore.js')
const { checkedValue } = require('../core/units.js')
const { blockingCoreOf, coreOf, Single, single } = require('./single.js')

const kind = {
  class: 'Semaphore',
  base: single,
  name: 'semaphore',
  bytes: 8,
  local: (value) => new LocalSemaphore(value),
  shared: (value) => new (require('../process/semaphore_core.js').SemaphoreCore)(value),
}

class Semaphore extends Single {
  constructor(value, options = {}) {
    super(kind, [checkedValue(value)], options)
  }

  acquire(weight, priority) {
    return coreOf(this, kind, 'acquire').acquire(weight, priority)
  }

  tryAcquire(weight) {
    return coreOf(this, kind, 'tryAcquire').tryAcquire(weight)
  }

  runExclusive(callback, weight, priority) {
    return coreOf(this, kind, 'runExclusive').runExclusive(callback, weight, priority)
  }

  executeLocked(callback, weight, priority) {
    return coreOf(this, kind, 'executeLocked').runExclusive(callback, weight, priority)
  }

  acquireSync(weight, options) {
    return blockingCoreOf(this, kind, 'acquireSync').acquireSync(weight, options)
  }

  runExclusiveSync(callback, weight, options) {
    return blockingCoreOf(this, kind, 'runExclusiveSync').runExclusiveSync(
      callback,
      weight,
      options,
    )
  }

  waitForUnlock(weight, priority) {
    return coreOf(this, kind, 'waitForUnlock').waitForUnlock(weight, priority)
  }

  isLocked() {
    return coreOf(this, kind, 'isLocked').isLocked()
  }

  getValue() {
    return coreOf(this, kind, 'getValue').getValue()
  }

  setValue(value) {
    coreOf(this, kind, 'setValue').setValue(value)
  }

  release(weight) {
    coreOf(this, kind, 'release').release(weight)
  }

  cancel(reason) {
    coreOf(this, kind, 'cancel').cancel(reason)
  }

  snapshot() {
    return coreOf(this, kind, 'snapshot').snapshot()
  }
}

module.exports = { Semaphore }
