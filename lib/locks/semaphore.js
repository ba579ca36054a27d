'use strict'
const { LocalSemaphore } = require('../core/semaphore.js')
const { refuseOptions, surplusError } = require('../core/options.js')
const { checkedValue, checkWeight } = require('../core/units.js')
const { now, tryRun } = require('../core/run.js')
const { limited, mapped } = require('./semaphore_jobs.js')
const { blockingLockOf, defaultsOf, lockOf, withDefaults } = require('./base.js')
const { Holdable, holdable } = require('./single.js')

const kind = {
  class: 'Semaphore',
  base: holdable,
  name: 'semaphore',
  bytes: 8,
  local: (value) => new LocalSemaphore(value),
}

class Semaphore extends Holdable {
  constructor(value, options = {}) {
    super(kind, [checkedValue(value)], options)
  }

  acquire(weight, priority, surplus) {
    if (surplus !== undefined) throw surplusError()
    return lockOf(this, kind, 'acquire').acquire(weight, withDefaults(this, priority))
  }

  tryAcquire(weight, given) {
    const lock = lockOf(this, kind, 'tryAcquire')
    refuseOptions(given)
    return lock.tryAcquire(weight)
  }

  runExclusive(callback, weight, priority, surplus) {
    if (surplus !== undefined) return Promise.reject(surplusError())
    return lockOf(this, kind, 'runExclusive').runExclusive(
      callback,
      weight,
      withDefaults(this, priority),
    )
  }

  executeLocked(callback, weight, priority, surplus) {
    lockOf(this, kind, 'executeLocked')
    return this.runExclusive(callback, weight, priority, surplus)
  }

  tryRunExclusive(callback, weight = 1, surplus) {
    lockOf(this, kind, 'tryRunExclusive')
    return tryRun(callback, (given) => this.runExclusive(given, checkWeight(weight), now, surplus))
  }

  acquireSync(weight, options) {
    return blockingLockOf(this, kind, 'acquireSync').acquireSync(
      weight,
      withDefaults(this, options),
    )
  }

  runExclusiveSync(callback, weight, options) {
    const lock = blockingLockOf(this, kind, 'runExclusiveSync')
    return lock.runExclusiveSync(callback, weight, withDefaults(this, options))
  }

  waitForUnlock(weight, priority) {
    return lockOf(this, kind, 'waitForUnlock').waitForUnlock(weight, withDefaults(this, priority))
  }

  getValue() {
    return lockOf(this, kind, 'getValue').getValue()
  }

  setValue(value) {
    lockOf(this, kind, 'setValue').setValue(value)
  }

  limit(fn, options) {
    lockOf(this, kind, 'limit')
    return limited(() => lockOf(this, kind, 'acquire'), defaultsOf(this), fn, options)
  }

  map(iterable, fn, options) {
    lockOf(this, kind, 'map')
    return mapped(() => lockOf(this, kind, 'acquire'), defaultsOf(this), iterable, fn, options)
  }

  release(weight) {
    lockOf(this, kind, 'release').release(weight)
  }
}

module.exports = { Semaphore }
