'use strict'
const { LocalMutex } = require('../core/mutex.js')
const { surplusError } = require('../core/options.js')
const { blockingLockOf, lockOf, withDefaults } = require('./base.js')
const { blockingLimits, Holdable, holdable } = require('./single.js')

const kind = {
  class: 'RecursiveMutex',
  base: holdable,
  name: 'recursive mutex',
  bytes: 4,
  local: () => Object.assign(new LocalMutex(), { kind: kind.name }),
  // The first RecursiveMutex loads it, because AsyncLocalStorage slows down every promise on Node 20 and 22.
  over: (mutex) => new (require('../core/recursive.js').Recursive)(mutex),
  lockFor: (method, recursive) => (method in recursive ? recursive : recursive.outer),
  // Code inside a callback that holds a closed mutex may still enter it again.
  closedFor: (_, refusal, recursive) => (recursive.isHeld() ? recursive : refusal),
}

class RecursiveMutex extends Holdable {
  constructor(options = {}) {
    super(kind, [], options)
  }

  // Only methods with a callback. acquire() could record its grant in the caller's context only by
  // AsyncLocalStorage.enterWith(). The record would stay after the release, and later siblings of the caller would
  // inherit it: they would count as holders, and the lock would admit two callers at once.

  runExclusive(callback, options, surplus) {
    if (surplus !== undefined) return Promise.reject(surplusError())
    return lockOf(this, kind, 'runExclusive').runExclusive(callback, withDefaults(this, options))
  }

  executeLocked(callback, options, surplus) {
    lockOf(this, kind, 'executeLocked')
    return this.runExclusive(callback, options, surplus)
  }

  runExclusiveSync(callback, options) {
    const lock = blockingLockOf(this, kind, 'runExclusiveSync')
    return lock.runExclusiveSync(callback, blockingLimits(this, options))
  }

  isHeld() {
    return lockOf(this, kind, 'isHeld').isHeld()
  }
}

module.exports = { RecursiveMutex }
