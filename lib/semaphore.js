'use strict'
const { LocalSemaphore } = require('./core/semaphore.js')
const { blockingCoreOf, coreOf, Single } = require('./single.js')

const kind = {
  name: 'semaphore',
  bytes: 8,
  local: (value) => new LocalSemaphore(value),
  shared: (value) => new (require('./semaphore_core.js').SemaphoreCore)(value),
}

class Semaphore extends Single {
  constructor(value, options = {}) {
    super(kind, [value], options)
  }

  acquire(weight, priority) {
    return coreOf(this).acquire(weight, priority)
  }

  tryAcquire(weight) {
    return coreOf(this).tryAcquire(weight)
  }

  runExclusive(callback, weight, priority) {
    return coreOf(this).runExclusive(callback, weight, priority)
  }

  executeLocked(callback, weight, priority) {
    return coreOf(this).runExclusive(callback, weight, priority)
  }

  acquireSync(weight, options) {
    return blockingCoreOf(this, 'acquireSync').acquireSync(weight, options)
  }

  runExclusiveSync(callback, weight, options) {
    return blockingCoreOf(this, 'runExclusiveSync').runExclusiveSync(callback, weight, options)
  }

  waitForUnlock(weight, priority) {
    return coreOf(this).waitForUnlock(weight, priority)
  }

  isLocked() {
    return coreOf(this).isLocked()
  }

  getValue() {
    return coreOf(this).getValue()
  }

  setValue(value) {
    coreOf(this).setValue(value)
  }

  release(weight) {
    coreOf(this).release(weight)
  }

  cancel(reason) {
    coreOf(this).cancel(reason)
  }

  snapshot() {
    return coreOf(this).snapshot()
  }
}

module.exports = { Semaphore }
