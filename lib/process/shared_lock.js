'use strict'
// The base of locks that threads or processes share, except mutexes: a word in shared memory, and the calls into its
// queue in C++. A keyed map has a lock for each busy key.
const { reasonOf } = require('../core/abort.js')
const { toText } = require('../core/key_text.js')
const { AnyLock, IdlePromise } = require('../core/lock.js')
const native = require('../addon/load.js')
const { constructionError } = require('./construction_errors.js')
const { indexInMemory, indexOfKey, keepWith, shareAt, tableOfNames } = require('./shares.js')
const { checkStack } = require('../core/stack.js')
const {
  cancelAll,
  grantedAbandoned,
  isGranted,
  takeCompletions,
  ticketQueue,
} = require('./waiters.js')
const { observed } = require('../core/platform.js')
const { wait } = require('../core/waiter.js')
const { offsetOf, queued, wordsOf } = require('./words.js')

/** The promise of onIdle(). Until it resolves, the object listens to its shared state. */
class ListenersPromise extends IdlePromise {
  drop(lock) {
    super.drop(lock)
    lock.shared.unlisten(lock)
  }
}

/** Returns the kind of a class: its name in messages, and its number and its functions in C++, which names it `key`. */
const kindOf = (name, key) => ({ name, number: native.layout.lockKinds[key], native: native[key] })

class SharedLock extends AnyLock {
  /**
   * `idle` is the word of a new lock, and of a key without a holder. The lock is not usable before attach().
   */
  constructor(idle) {
    super()
    this.idle = idle
    this.words = null
    this.wordIndex = 0
    this.shared = null
    /** The next lock in the list of listeners of `shared`. */
    this.nextListener = null
  }

  read() {
    return Atomics.load(this.words, offsetOf(this.wordIndex))
  }

  hasWaiters() {
    return (this.read() & queued) !== 0
  }

  isIdle() {
    return !this.hasCallers() && (this.key === undefined || this.shared.passing === 0)
  }

  hasCallers() {
    return this.pins > 0 || this.isOurs() || this.pending() > 0
  }

  /** Called when a holder or a waiter of this thread may have changed. */
  changed() {
    const { shared } = this
    if (shared.waiting > 0) shared.wait(this, 0)
    if (shared.nextListener !== null) shared.tellListeners()
  }

  onIdle() {
    if (this.idleListener === null && !this.isIdle()) {
      this.idleListener = new ListenersPromise()
      this.shared.listen(this)
    }
    return super.onIdle()
  }

  /** Shares the lock through memory of that size, which other threads know. */
  shareIn(buffer, byteOffset, bytes) {
    const words = new Int32Array(buffer, byteOffset, bytes / Int32Array.BYTES_PER_ELEMENT)
    this.attach(() => indexInMemory(words, this.kind.number, this.idle), null)
    keepWith(this)
  }

  shareByName(name) {
    this.name = name
    this.shareByKey(tableOfNames(this.kind.name), toText(name))
    keepWith(this)
  }

  shareByKey(table, key) {
    this.attach(() => indexOfKey(table, key, this.kind.number, this.idle))
  }

  attach(findIndex, argument = this.argument) {
    try {
      this.wordIndex = findIndex()
    } catch (error) {
      throw constructionError(error, this.title(), this.idle, argument)
    }
    this.shared = shareAt(this.wordIndex)
    this.words = wordsOf(this.wordIndex)
    if (this.key !== undefined) this.shared.listen(this)
  }

  /** Acquires, after waiting in the queue. `Kind`, a class of waiters, decides what the promise resolves to. */
  enterQueue(weight, limits, Kind) {
    const { maxPending, priority, signal, timeout } = limits
    const refusal = this.refusal(signal)
    if (refusal !== undefined) return this.refuse(Kind, weight, refusal)
    checkStack()
    const isNow = timeout === 0 || this.isFull(maxPending)
    const answer = this[isNow ? 'enterNow' : 'enter'](weight, priority, Kind.isPassing)
    if (answer >= 0) return wait(this, Kind, weight, limits, undefined, answer)
    this.changed()
    if (isGranted(answer)) {
      const promise = Promise.resolve(Kind.value(this, weight, answer === grantedAbandoned))
      return Kind.isToStay ? promise : this.given(promise, limits)
    }
    if (limits.ifAvailable) return Promise.resolve()
    const error = this.isFull(maxPending) ? this.fullError(maxPending) : this.timeoutError(0)
    return this.refuse(Kind, weight, error)
  }

  /** The reason for which a caller with that `signal` is refused, or undefined. */
  refusal(signal) {
    return signal?.aborted ? reasonOf(signal) : undefined
  }

  checkRefusal() {
    const refusal = this.refusal()
    if (refusal !== undefined) throw refusal
  }

  /** Acquires as enter() does if it need not wait. Otherwise does not enter the queue. */
  enterNow(weight, priority, isPassing = false) {
    return this.kind.native.enterNow(this.wordIndex, weight, priority, +isPassing)
  }

  /** Whether a blocking call would have to wait. */
  isTaken(_weight) {
    return true
  }

  /**
   * Reports a grant to the observer: of the waiter that is being admitted, or of a caller that did not wait.
   */
  observeGrant(mode, units, isAbandoned) {
    const { admitted } = this
    this.admitted = null
    return observed.granted(this.observer, mode, units, admitted, isAbandoned)
  }

  /** Tells the observer which promise a caller gets that did not wait. Returns the promise. */
  given(promise, limits) {
    if (this.observer !== null) observed.gave(this.observer, undefined, promise, limits)
    return promise
  }

  /** Tells the observer that a blocking call with these `limits` got `grant`. Returns the grant. */
  givenSync(grant, limits) {
    if (this.observer !== null) observed.blocked(this.observer, limits)
    return grant
  }

  enter(weight, priority, isPassing = false) {
    const { enter } = this.kind.native
    return priority === 0 && !this.isStrict && !isPassing
      ? enter(this.wordIndex, weight)
      : enter(this.wordIndex, weight, priority, +this.isStrict, +isPassing)
  }

  /** Acquires without waiting. Returns granted, grantedAbandoned, or another outcome if the lock is not available. */
  tryEnter(weight) {
    this.checkRefusal()
    checkStack()
    const outcome = this.tryNatively(weight)
    this.changed()
    return outcome
  }

  tryNatively(weight) {
    return this.kind.native.tryEnter(this.wordIndex, weight)
  }

  enterSync(weight, limits) {
    this.checkRefusal()
    checkStack()
    if (this.observer === null) return this.block(weight, limits)
    return observed.blocks(this.observer, this, weight, limits, () => this.block(weight, limits))
  }

  block(weight, { timeout, priority }) {
    const { enterSync } = this.kind.native
    const outcome =
      timeout === 0
        ? this.enterNow(weight, priority)
        : enterSync(this.wordIndex, weight, timeout, priority, +this.isStrict)
    // Giving up may have admitted a promise of this thread.
    this.dispatch(native.eventLoop.completions())
    if (!isGranted(outcome)) throw this.timeoutError(timeout)
    return outcome
  }

  /** Called when a waiter has been admitted. */
  began() {}

  /** Whether another thread could admit the waiters. */
  canBeGrantedElsewhere() {
    return true
  }

  admit(waiter, abandoned) {
    if (this.observer !== null) this.observeAdmission(waiter)
    waiter.resolve(waiter.constructor.value(this, waiter.weight, abandoned))
  }

  /** Reports the grant of `waiter` to the observer when it is made. */
  observeAdmission(waiter) {
    if (!waiter.isToStay) this.admitted = waiter
  }

  dispatch(count) {
    if (count > 0) takeCompletions(count)
    this.changed()
  }

  /** Called when a waiter of this thread has answered an invitation, which may have admitted other waiters. */
  answered() {
    this.dispatch(native.eventLoop.completions())
  }

  leaveQueue(ticket) {
    return this.kind.native.leave(this.wordIndex, ticket)
  }

  leaveAll() {
    return this.kind.native.leaveAll(this.wordIndex)
  }

  resume(ticket) {
    return this.kind.native.resume(this.wordIndex, ticket)
  }

  pending() {
    return this.shared.waiting - this.shared.passing
  }

  queueSize() {
    return this.hasWaiters() ? this.kind.native.queueSize(this.wordIndex) : 0
  }

  cancel(reason) {
    checkStack()
    if (this.shared.waiting > 0) cancelAll(this, reason)
  }
}

Object.assign(SharedLock.prototype, ticketQueue, {
  admitted: null,
  scope: 'process',
  /** Adds a fencing token to a releaser: see addToken of Lender. Null in scopes without tokens. */
  addToken: null,
  /** Whether waiters are strictly first come, first served among threads, too. */
  isStrict: false,
})

module.exports = { kindOf, SharedLock }
