'use strict'
// What every lock of JavaScript shares: its word, and the ways into the line of C++ that stands
// before it. Mutex and Semaphore are faces of a core; a keyed map has a core for each busy key.
const { E_CANCELED, lockError } = require('./errors.js')
const { nameOf } = require('./home.js')
const native = require('./load.js')
const { cancelAll, grantedAbandoned, moveAll, wait } = require('./waiters.js')
const { Watchers } = require('./watchers.js')
const { place, placeIn } = require('./words.js')

const line = 1 // the bit of every word that says that somebody waits

class Core {
  /** `home` is the keyed map that it belongs to, or null. */
  constructor(kind, home) {
    this.home = home
    this.key = undefined
    /** Whether its home knows that it has been idle. */
    this.isListed = false
    /** How many calls are about to use it. */
    this.pins = 0
    this.cancelError = home === null ? E_CANCELED : home.cancelError
    this.watchers = null
    this.kind = kind
    /** Whether other threads may know of it. */
    this.isShared = false
    this.words = undefined
    this.region = 0
    this.index = 0
    place(this)
  }

  /** Its word in memory of its own, for other threads to find it. */
  share() {
    if (!this.isShared) {
      moveAll(this, () => {
        const word = Atomics.load(this.words, this.index)
        this.moveTo(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT), 0)
        Atomics.store(this.words, this.index, word)
      })
    }
    return this.words
  }

  moveTo(buffer, byteOffset) {
    placeIn(this, buffer, byteOffset)
    this.isShared = true
  }

  hasLine() {
    return (Atomics.load(this.words, this.index) & line) !== 0
  }

  enter(weight, priority) {
    // Own waiters in line are never overtaken by a newcomer of the same agent.
    return this.kind.enter(this.region, this.index, weight, priority, 0)
  }

  leave(ticket) {
    return this.kind.leave(this.region, this.index, ticket)
  }

  leaveAll() {
    return this.kind.leaveAll(this.region, this.index)
  }

  settle(ticket) {
    return this.kind.settle(this.region, this.index, ticket)
  }

  queueSize() {
    return this.hasLine() ? this.kind.queueSize(this.region, this.index) : 0
  }

  /** What a newcomer's priority must exceed to go before all who wait; undefined when nobody does. */
  topPriority() {
    return this.hasLine() ? this.kind.topPriority(this.region, this.index) : undefined
  }

  /** In its turn; the promise is for what `settled(core, weight, abandoned)` makes then. */
  enterLine(weight, limits, settled) {
    const { signal } = limits
    if (signal?.aborted) return Promise.reject(signal.reason)
    const ticket = this.enter(weight, limits.priority)
    if (ticket >= 0) return wait(this, ticket, settled, weight, limits)
    return Promise.resolve(settled(this, weight, ticket === grantedAbandoned))
  }

  cancel(reason = this.cancelError) {
    if (this.hasLine()) cancelAll(this, reason)
  }

  /** A promise for the moment when `weight` could be had. */
  watch(weight, limits) {
    const { priority, timeout, signal } = limits
    if (signal?.aborted) return Promise.reject(signal.reason)
    const top = this.topPriority()
    if (this.hasRoom(weight) && (top === undefined || priority > top)) return Promise.resolve()
    if (timeout === 0) return Promise.reject(this.timeoutError(0))
    this.watchers ??= new Watchers()
    return this.watchers.wait(weight, limits, (late) => this.timeoutError(late))
  }

  /** Tells the watchers, and forgets them when none is left: releasing looks for null only. */
  tell(value, topPriority) {
    if (this.watchers === null) return
    this.watchers.tell(value, topPriority)
    if (this.watchers.size === 0) this.watchers = null
  }

  timeoutError(timeout) {
    return lockError('ERR_LOCK_TIMEOUT', `${this.title()} was not available within ${timeout} ms`)
  }

  /** For error messages. */
  title() {
    if (this.home === null) return `the ${this.kind.name}`
    return `the ${this.kind.name} of key ${nameOf(this.key)}`
  }
}

/** The functions of C++ for one kind of lock. */
function kindOf(name) {
  const find = (method) => native[`${name}${method}`]
  return {
    name,
    enter: find('Enter'),
    leave: find('Leave'),
    leaveAll: find('LeaveAll'),
    settle: find('Settle'),
    queueSize: find('QueueSize'),
    topPriority: find('TopPriority'),
  }
}

module.exports = { Core, kindOf, line }
