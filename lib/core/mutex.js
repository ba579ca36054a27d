'use strict'
// A mutex of one thread.
//
//   free    grant === 0    no waiter
//   held    grant > 0      the number of the grant; waiters, if any, in the queue
//
//   free -> held           acquire, lock, try
//   held -> held           unlock with waiters: the next one is the holder at once (hand-off), in the same turn
//   held -> free           unlock without
//
// Invariants: 1. a free mutex has no waiter. 2. every grant of this thread has a number of its own, so that a
// releaser of an earlier grant does nothing, ever.
const { lockError } = require('../errors.js')
const { checkCallback, readWait } = require('../options.js')
const { mutexReleaser } = require('./releaser.js')
const { LocalLock } = require('./lock.js')
const { Waiter } = require('./waiter.js')

const free = 0
const done = Promise.resolve()

let lastGrant = 0

/** A small integer for ever; by the next round none is left of this. */
const nextGrant = () => {
  lastGrant = lastGrant === 2 ** 30 ? 1 : lastGrant + 1
  return lastGrant
}

class LocalMutex extends LocalLock {
  constructor() {
    super()
    this.grant = free
  }

  // Whatever may fail (near the end of the stack any call does) comes before the mutex is held.

  lock(options) {
    if (options === undefined && this.grant === free) {
      this.grant = nextGrant()
      return done
    }
    return this.enter(readWait(options), Locker)
  }

  acquire(options) {
    if (options === undefined && this.grant === free) {
      const grant = nextGrant()
      const promise = Promise.resolve(mutexReleaser(this, grant))
      this.grant = grant
      return promise
    }
    return this.enter(readWait(options), Acquirer)
  }

  enter(limits, Kind) {
    const { signal } = limits
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (this.grant !== free) return this.wait(1, limits, Kind)
    const grant = nextGrant()
    const promise = Promise.resolve(Kind.valueOf(this, grant))
    this.grant = grant
    return promise
  }

  tryLock() {
    if (this.grant !== free) return false
    this.grant = nextGrant()
    return true
  }

  tryAcquire() {
    if (this.grant !== free) return undefined
    const grant = nextGrant()
    const release = mutexReleaser(this, grant)
    this.grant = grant
    return release
  }

  lockSync() {
    if (this.tryLock()) return
    const held = `${this.title()} is held by this thread already, which would wait for itself`
    throw lockError('ERR_LOCK_DEADLOCK', held)
  }

  acquireSync() {
    const release = this.tryAcquire()
    if (release === undefined) this.lockSync()
    return release
  }

  runExclusiveSync(callback) {
    checkCallback(callback)
    this.lockSync()
    const { grant } = this
    try {
      return callback()
    } finally {
      if (this.grant === grant) this.unlock()
    }
  }

  async runExclusive(callback, options) {
    checkCallback(callback)
    let grant = free
    try {
      if (options === undefined && this.grant === free) {
        grant = nextGrant()
        this.grant = grant
        await done
      } else {
        grant = await this.enter(readWait(options), Runner)
      }
      return await callback()
    } finally {
      // Unless release() has ended it before, or it never began.
      if (grant !== free && this.grant === grant) this.unlock()
    }
  }

  unlock() {
    if (this.grant === free) {
      throw lockError('ERR_LOCK_NOT_HELD', `${this.title()} is not held by this thread`)
    }
    const { queue } = this
    if (queue === null || queue.size === 0) {
      this.grant = free
      if (this.watchers !== null) this.tell(1, undefined)
      if (this.home !== null) this.rest()
      return
    }
    const waiter = queue.head
    const grant = nextGrant()
    const value = waiter.constructor.valueOf(this, grant)
    this.dequeue(waiter)
    this.grant = grant
    if (this.watchers !== null) this.tell(1, waiter.priority)
    waiter.resolve(value)
  }

  release() {
    if (this.grant !== free) this.unlock()
  }

  isLocked() {
    return this.grant !== free
  }

  isFree() {
    return this.grant === free
  }

  hasRoom() {
    return this.grant === free
  }

  /** A waiter that leaves frees nothing. */
  admit() {}

  waitForUnlock(options) {
    return this.watch(1, readWait(options))
  }

  snapshot() {
    return { locked: this.isLocked(), waiting: this.queueSize() }
  }
}

LocalMutex.prototype.kind = 'mutex'

class Locker extends Waiter {
  static valueOf() {}
}

class Runner extends Waiter {
  static valueOf(_lock, grant) {
    return grant
  }
}

class Acquirer extends Waiter {
  static valueOf(lock, grant) {
    return mutexReleaser(lock, grant)
  }
}

module.exports = { LocalMutex }
