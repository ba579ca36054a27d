'use strict'
// What the locks of several threads or processes have in common: a word in memory that they share, and the ways into
// the queue of C++ before it. A keyed map has a core for each busy key.
const { titleOf, toText } = require('../core/keys.js')
const { AnyLock } = require('../core/lock.js')
const native = require('../load.js')
const { Passer } = require('./passer.js')
const { keepWith, shareKey, shareMemory, tableOf } = require('./shares.js')
const { checkStack } = require('../core/stack.js')
const {
  cancelAll,
  goAway,
  grantedAbandoned,
  isGranted,
  takeCompletions,
  wait,
  waiterAt,
} = require('./waiters.js')
const { indexOf, wordsOf } = require('./words.js')

const line = 1 // the bit of every word that says that the queue is not empty

class Core extends AnyLock {
  /** `idle` is the word of a lock that is new, and that of a key without a holder. Until settleIn() it is no lock. */
  constructor(idle) {
    super()
    this.idle = idle
    this.words = null
    this.place = 0
    this.share = null
    /** How many promises wait for it that came by this core: others of this thread may have the same share. */
    this.waitersHere = 0
  }

  read() {
    return Atomics.load(this.words, indexOf(this.place))
  }

  hasLine() {
    return (this.read() & line) !== 0
  }

  isIdle() {
    return this.pins === 0 && !this.isOurs()
  }

  /** The lock, or a place in its queue, may have changed hands. */
  changed() {
    if (this.share.waiting > 0) this.share.wait(this, 0)
    if (this.idleListener !== null) this.rest()
  }

  /** The memory that other threads find it by. */
  memory() {
    if (this.name !== undefined) {
      throw new TypeError(`${this.title()} is shared by its name: it has no buffer`)
    }
    return this.words
  }

  /** In memory that other threads know, too. */
  shareIn(buffer, byteOffset) {
    const { bytes, number } = this.kind
    const words = new Int32Array(buffer, byteOffset, bytes / Int32Array.BYTES_PER_ELEMENT)
    this.settleIn(() => shareMemory(words, number, this.idle))
    keepWith(this)
  }

  /** With all threads that know its name. */
  shareByName(name) {
    this.name = name
    this.shareByKey(tableOf(this.kind.name), toText(name))
    keepWith(this)
  }

  /** With all threads that know the keyed map. */
  shareByKey(table, key) {
    this.settleIn(() => shareKey(table, key, this.kind.number, this.idle))
  }

  settleIn(findShare) {
    try {
      this.share = findShare()
    } catch (error) {
      error.message = `${this.title()}: ${error.message}`
      throw error
    }
    this.place = this.share.place
    this.words = wordsOf(this.place)
  }

  /** In its turn; the promise is for what the class `Kind` of waiters makes of it. */
  enterLine(weight, limits, Kind) {
    const { signal } = limits
    if (signal?.aborted) return this.refuse(weight, signal.reason)
    checkStack()
    const ticket = this.enter(weight, limits.priority)
    if (ticket >= 0) return wait(this, ticket, Kind, weight, limits)
    this.began()
    this.changed()
    const isAbandoned = ticket === grantedAbandoned
    const promise = Promise.resolve(Kind.value(this, weight, isAbandoned))
    return Kind.prototype.isToStay ? promise : this.given(promise)
  }

  /** A caller that does not get it, and does not wait. */
  refuse(weight, reason) {
    if (this.observer !== null) this.observer.refused(this.modeOf(weight), weight, reason)
    return Promise.reject(reason)
  }

  /** Whether a thread that blocks for it has to wait. */
  isTaken(_weight) {
    return true
  }

  /** The observer hears of a grant: for the waiter that is being admitted, or for a caller that did not wait. */
  observeGrant(mode, units, isAbandoned) {
    const { admitted } = this
    this.admitted = null
    return this.observer.granted(mode, units, admitted, isAbandoned)
  }

  /** `promise` is what a caller gets that did not wait. */
  given(promise) {
    if (this.observer !== null) this.observer.gave(undefined, promise)
    return promise
  }

  /** For an observer: `waiter` must not wait. */
  turnAway(waiter, reason) {
    if (waiterAt(waiter.ticket) === waiter) goAway(waiter.ticket, reason)
  }

  enter(weight, priority) {
    const { enter } = this.kind.native
    return priority === 0 && !this.isStrict
      ? enter(this.place, weight)
      : enter(this.place, weight, priority, +this.isStrict)
  }

  /** Now, or not at all: granted, grantedAbandoned or neither. */
  tryEnter(weight) {
    checkStack()
    const outcome = this.kind.native.tryEnter(this.place, weight)
    if (isGranted(outcome)) this.began()
    this.changed()
    return outcome
  }

  /** Blocks this thread. */
  enterSync(weight, limits) {
    checkStack()
    if (this.observer === null) return this.block(weight, limits)
    return this.observer.blocks(this, weight, limits, () => this.block(weight, limits))
  }

  block(weight, { timeout, priority }) {
    const outcome = this.kind.native.enterSync(
      this.place,
      weight,
      timeout,
      priority,
      +this.isStrict,
    )
    if (isGranted(outcome)) this.began()
    // Giving up may have let in a promise of ours.
    this.dispatch(native.eventLoop.completions())
    if (!isGranted(outcome)) throw this.timeoutError(timeout)
    return outcome
  }

  /** C++ has granted it to us. */
  began() {}

  /** Whether another thread could admit the waiters. */
  isOutOfOurHands() {
    return true
  }

  admit(waiter, abandoned) {
    if (this.observer !== null) this.observeAdmission(waiter)
    waiter.resolve(waiter.constructor.value(this, waiter.weight, abandoned))
  }

  /** The observer is to hear of `waiter` when its grant is made. */
  observeAdmission(waiter) {
    if (!waiter.isToStay) this.admitted = waiter
  }

  /** Takes `count` completions, and what comes of them. */
  dispatch(count) {
    if (count > 0) takeCompletions(count)
    this.changed()
  }

  /** A waiter of ours has answered an invitation: others may have been let in by that. */
  answered() {
    this.dispatch(native.eventLoop.completions())
  }

  leave(ticket) {
    return this.kind.native.leave(this.place, ticket)
  }

  leaveAll() {
    return this.kind.native.leaveAll(this.place)
  }

  settle(ticket) {
    return this.kind.native.settle(this.place, ticket)
  }

  pending() {
    return this.share.waiting
  }

  queueSize() {
    return this.hasLine() ? this.kind.native.queueSize(this.place) : 0
  }

  cancel(reason = this.cancelError) {
    checkStack()
    if (this.hasLine()) cancelAll(this, reason)
  }

  /** waitForUnlock, for `weight`: through the queue, without a stop. */
  passThrough(weight, limits) {
    const { signal } = limits
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (this.hasRoom(weight) && !this.hasLine()) return Promise.resolve()
    return this.enterLine(weight, limits, Passer)
  }

  title() {
    return titleOf(this.kind.name, this)
  }
}

Object.assign(Core.prototype, {
  admitted: null,
  /** As that of a Lender. */
  addToken: null,
  /** Strictly first come, first served, among threads too. */
  isStrict: false,
})

module.exports = { Core }
