'use strict'
// What every lock of JavaScript shares: its word, and the ways into the line of C++ before it. Mutex
// and Semaphore are faces of a core; a keyed map has a core for each busy key.
//
//   alone      words === null         the word is a number of ours, this.word
//   in line    words, place           somebody waits: the word lies where C++ sees it, with its line bit
//   shared     words, place, share    other threads may know of it: it stays there
//
// Alone becomes in line when the first has to wait, and in line becomes alone when the last has gone.
const { E_CANCELED, lockError } = require('../core/errors.js')
const { nameOf, toText } = require('../core/keys.js')
const native = require('../load.js')
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
const { Watchers } = require('../core/watchers.js')
const { givePlace, indexOf, takePlace, wordsOf } = require('./words.js')

/** Those that are passing in this turn: see pass. */
let passing = []

const line = 1 // the bit of every word that says that somebody waits

class Core {
  constructor(word) {
    this.word = word
    this.words = null
    this.place = 0
    this.share = null
    this.watchers = null
  }

  /** What its constructor was given, as long as nobody has used it. */
  beginnings() {
    return []
  }

  read() {
    return this.words === null ? this.word : Atomics.load(this.words, indexOf(this.place))
  }

  hasLine() {
    return this.words !== null && (this.read() & line) !== 0
  }

  /** For the keyed map that it belongs to. */
  isIdle() {
    if (this.pins > 0 || this.watchers !== null) return false
    return this.words === null ? this.word === this.idle : this.share !== null && !this.isOurs()
  }

  /** Puts the word where C++ sees it. */
  show() {
    if (this.words !== null) return
    this.place = takePlace()
    this.words = wordsOf(this.place)
    this.words[indexOf(this.place)] = this.word
  }

  /** Takes the word back when nobody waits any more. */
  calm() {
    if (this.words === null) return
    if (this.share !== null) {
      this.settleShared()
      return
    }
    const word = this.words[indexOf(this.place)]
    if ((word & line) !== 0) return
    this.word = word
    this.words = null
    givePlace(this.place)
    if (this.home !== null) this.rest()
  }

  /** Whoever has let go of a keyed core calls it: its key may be idle now. */
  rest() {
    if (!this.isIdle()) return
    this.generation++
    this.home.drop(this)
  }

  /** A shared one, after something may have changed hands. */
  settleShared() {
    if (this.share.waiting > 0) this.share.wait(this, 0)
    if (this.home !== null) this.rest()
  }

  /** The memory that other threads find it by. */
  memory() {
    if (this.share === null) {
      throw new TypeError(
        `${this.title()} has no buffer: construct it with { shared: true } to share it with other threads`,
      )
    }
    if (this.share.name !== undefined) {
      throw new TypeError(`${this.title()} is shared by its name: it has no buffer`)
    }
    return this.words
  }

  /** In memory that other threads know, too. */
  shareIn(buffer, byteOffset) {
    const { bytes, number } = this.kind
    const words = new Int32Array(buffer, byteOffset, bytes / Int32Array.BYTES_PER_ELEMENT)
    this.settleIn(this.title(), () => shareMemory(words, number, this.idle))
    keepWith(this)
  }

  /** With all threads that know its name. */
  shareByName(name) {
    const table = tableOf(this.kind.name)
    const share = () => shareKey(table, toText(name), this.kind.number, this.idle, name)
    this.settleIn(this.title(name), share)
    keepWith(this)
  }

  /** With all threads that know the keyed map. */
  shareByKey(table, key) {
    this.settleIn(this.title(), () => shareKey(table, key, this.kind.number, this.idle))
  }

  settleIn(title, findShare) {
    let share
    try {
      share = findShare()
    } catch (error) {
      error.message = `${title}: ${error.message}`
      throw error
    }
    this.share = share
    this.place = share.place
    this.words = wordsOf(share.place)
  }

  /** In its turn; the promise is for what the class `Kind` of waiters makes of it. */
  enterLine(weight, limits, Kind) {
    const { signal } = limits
    if (signal?.aborted) return this.refuse(weight, signal.reason)
    checkStack()
    this.show()
    const ticket = this.enter(weight, limits.priority)
    if (ticket >= 0) return wait(this, ticket, Kind, weight, limits)
    this.began()
    this.calm()
    const isAbandoned = ticket === grantedAbandoned
    if (this.observer !== null) this.observeEntry(Kind, isAbandoned)
    const promise = Promise.resolve(Kind.value(this, weight, isAbandoned))
    return Kind.prototype.isToStay ? promise : this.given(promise)
  }

  /** A caller that does not get it, and does not wait. */
  refuse(weight, reason) {
    if (this.observer !== null) this.observer.refused(this.modeOf(weight), weight, reason)
    return Promise.reject(reason)
  }

  /** How a caller wants the lock that asks C++ for `weight`: see lib/core/waiter.js. */
  modeOf(_weight) {
    return 'exclusive'
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

  /** A waiter of class `Kind`, or a caller that did not wait, is in. Some kinds observe that by the releaser. */
  observeEntry(_Kind, _isAbandoned) {}

  /** `promise` is what a caller gets that did not wait. */
  given(promise) {
    if (this.observer !== null) this.observer.gave(undefined, promise)
    return promise
  }

  /** For an observer: `waiter` must not wait. */
  turnAway(waiter, reason) {
    if (waiterAt(waiter.ticket) === waiter) goAway(waiter.ticket, reason)
  }

  /** `held`, with what an observer sees. */
  seen(held) {
    return this.observer === null ? held : this.observer.seen(held)
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
    this.show()
    const outcome = this.kind.native.tryEnter(this.place, weight)
    if (isGranted(outcome)) this.began()
    this.calm()
    return outcome
  }

  /** Blocks this thread. For locks that another thread can release only. */
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

  /** For a shared one: whether another thread could let those in who wait. */
  isOutOfOurHands() {
    return true
  }

  admit(waiter, abandoned) {
    if (this.observer !== null) this.observeAdmission(waiter, abandoned)
    waiter.resolve(waiter.constructor.value(this, waiter.weight, abandoned))
  }

  /** The observer is to hear of `waiter` when its grant is made. */
  observeAdmission(waiter, isAbandoned) {
    if (waiter.isToStay) return
    this.admitted = waiter
    this.observeEntry(waiter.constructor, isAbandoned)
  }

  /** Takes `count` completions, and what comes of them. */
  dispatch(count) {
    if (count > 0) takeCompletions(count)
    this.calm()
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

  queueSize() {
    return this.hasLine() ? this.kind.native.queueSize(this.place) : 0
  }

  /** What a newcomer's priority must exceed to go before all who wait; undefined when nobody does. */
  topPriority() {
    return this.hasLine() ? this.kind.native.topPriority(this.place) : undefined
  }

  cancel(reason = this.cancelError) {
    checkStack()
    if (this.hasLine()) cancelAll(this, reason)
  }

  /** A promise for the moment when `weight` could be had. */
  watch(weight, limits) {
    const { priority, timeout, signal } = limits
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (this.share !== null) return this.passThrough(weight, limits)
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

  /** One after the other: what one lets in may pass, too, and a long line of them is no recursion. */
  pass(weight, abandoned) {
    const isFirst = passing.length === 0
    passing.push({ core: this, weight, abandoned })
    if (!isFirst) return
    try {
      for (const one of passing) one.core.passNow(one.weight, one.abandoned)
    } finally {
      passing = []
    }
  }

  timeoutError(timeout, waiter) {
    const message = `${this.title()} was not available within ${timeout} ms`
    const error = lockError('ERR_LOCK_TIMEOUT', message)
    if (waiter !== undefined && this.observer !== null) this.observer.timedOut(waiter, error)
    return error
  }

  /** For error messages. */
  title(name = this.share?.name) {
    const kind = this.kind.name
    if (this.home === null)
      return name === undefined ? `the ${kind}` : `the ${kind} ${nameOf(name)}`
    const map = this.home.name === undefined ? '' : ` in ${nameOf(this.home.name)}`
    return `the ${kind} of key ${nameOf(this.key)}${map}`
  }
}

// What only some cores have of their own: those of keyed maps (which settleIn of home.js gives more),
// and those whose users chose otherwise. All others do without the memory.
Object.assign(Core.prototype, {
  /** As that of a local lock: see lib/diagnostics/observer.js. */
  observer: null,
  admitted: null,
  home: null,
  generation: 0,
  cancelError: E_CANCELED,
  /**
   * Where there is more to releasers than usual: makes one of `release`, whose grant is good while isGood(), in
   * place of dressed().
   */
  dress: null,
  /** Strictly first come, first served, among threads too. */
  isStrict: false,
  /** Whether blocking forms may block the main thread. */
  mayBlock: false,
})

module.exports = { Core }
