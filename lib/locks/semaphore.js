'use strict'
const { LocalSemaphore } = require('../core/semaphore.js')
const { checkedValue } = require('../core/units.js')
const { lockOptionsWithDefaults } = require('./lock_options.js')
const { acquiringUnits, waitingUnits } = require('./defaults.js')
const { now, tryRun } = require('./run.js')
const { limited, mapped } = require('./semaphore_jobs.js')
const { blockingCoreOf, coreOf, defaultsOf, Holdable, holdable } = require('./single.js')

const kind = {
  class: 'Semaphore',
  base: holdable,
  name: 'semaphore',
  bytes: 8,
  known: lockOptionsWithDefaults,
  local: (value) => new LocalSemaphore(value),
}

class Semaphore extends Holdable {
  constructor(value, options = {}) {
    super(kind, [checkedValue(value)], options)
  }

  acquire(weight, priority) {
    return coreOf(this, kind, 'acquire').acquire(
      acquiringUnits(defaultsOf(this), weight, priority),
      priority,
    )
  }

  tryAcquire(weight) {
    return coreOf(this, kind, 'tryAcquire').tryAcquire(weight)
  }

  runExclusive(callback, weight, priority) {
    return coreOf(this, kind, 'runExclusive').runExclusive(
      callback,
      acquiringUnits(defaultsOf(this), weight, priority),
      priority,
    )
  }

  executeLocked(callback, weight, priority) {
    return coreOf(this, kind, 'executeLocked').runExclusive(
      callback,
      acquiringUnits(defaultsOf(this), weight, priority),
      priority,
    )
  }

  tryRunExclusive(callback, weight = 1) {
    coreOf(this, kind, 'tryRunExclusive')
    return tryRun(callback, (given) => this.runExclusive(given, weight, now))
  }

  acquireSync(weight, options) {
    return blockingCoreOf(this, kind, 'acquireSync').acquireSync(
      waitingUnits(defaultsOf(this), weight, options),
      options,
    )
  }

  runExclusiveSync(callback, weight, options) {
    const core = blockingCoreOf(this, kind, 'runExclusiveSync')
    return core.runExclusiveSync(callback, waitingUnits(defaultsOf(this), weight, options), options)
  }

  waitForUnlock(weight, priority) {
    return coreOf(this, kind, 'waitForUnlock').waitForUnlock(
      waitingUnits(defaultsOf(this), weight, priority),
      priority,
    )
  }

  getValue() {
    return coreOf(this, kind, 'getValue').getValue()
  }

  setValue(value) {
    coreOf(this, kind, 'setValue').setValue(value)
  }

  limit(fn, options) {
    coreOf(this, kind, 'limit')
    return limited(() => coreOf(this, kind, 'acquire'), defaultsOf(this), fn, options)
  }

  map(iterable, fn, options) {
    coreOf(this, kind, 'map')
    return mapped(() => coreOf(this, kind, 'acquire'), defaultsOf(this), iterable, fn, options)
  }

  release(weight) {
    coreOf(this, kind, 'release').release(weight)
  }
}

module.exports = { Semaphore }
