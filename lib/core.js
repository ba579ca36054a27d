'use strict'
// What every lock of JavaScript shares: its word, and the ways into the line of C++ before it. Mutex
// and Semaphore are faces of a core; a keyed map has a core for each busy key.
//
//   alone      words === null    the word is a number of ours, this.word
//   in line    words, place      somebody waits: the word lies where C++ sees it, with its line bit
//   shared     words, place      other threads may know of it: it stays there for good
//
// Alone becomes in line when the first has to wait, and in line becomes alone when the last has gone.
const { E_CANCELED, lockError } = require('./errors.js')
const { nameOf } = require('./home.js')
const native = require('./load.js')
const { cancelAll, grantedAbandoned, moveAll, wait } = require('./waiters.js')
const { Watchers } = require('./watchers.js')
const { givePlace, indexOf, sharedPlace, startGrantsAt, takePlace, wordsOf } = require('./words.js')

const line = 1 // the bit of every word that says that somebody waits

class Core {
  constructor(word) {
    this.word = word
    this.words = null
    this.place = 0
    this.isShared = false
    this.watchers = null
  }

  read() {
    return this.words === null ? this.word : Atomics.load(this.words, indexOf(this.place))
  }

  hasLine() {
    return this.words !== null && (this.read() & line) !== 0
  }

  /** For the keyed map that it belongs to. */
  isIdle() {
    return (
      this.words === null && this.word === this.idle && this.watchers === null && this.pins === 0
    )
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
    if (this.words === null || this.isShared) return
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

  /** Its word in memory of its own, for other threads to find it. */
  share() {
    if (this.isShared) return this.words
    const move = () => {
      this.calm()
      this.shareIn(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT), 0)
      Atomics.store(this.words, 0, this.word)
      startGrantsAt(this.place, this.ended) // releasers that are out stay good, and stale ones stale
    }
    if (this.words === null) move()
    else moveAll(this, move)
    const { watchers } = this
    this.watchers = null
    watchers?.moveTo((priority) => this.passThrough({ priority }))
    return this.words
  }

  shareIn(buffer, byteOffset) {
    const words = new Int32Array(buffer, byteOffset, 1)
    this.place = sharedPlace(this, words)
    this.words = words
    this.isShared = true
  }

  /** In its turn; the promise is for what the class `Kind` of waiters makes of it. */
  enterLine(weight, limits, Kind) {
    const { signal } = limits
    if (signal?.aborted) return Promise.reject(signal.reason)
    this.show()
    const ticket = this.enter(weight, limits.priority)
    if (ticket >= 0) return wait(this, ticket, Kind, weight, limits)
    this.calm()
    return Promise.resolve(Kind.value(this, weight, ticket === grantedAbandoned))
  }

  enter(weight, priority) {
    const { enter } = this.kind
    return priority === 0 ? enter(this.place, weight) : enter(this.place, weight, priority)
  }

  leave(ticket) {
    return this.kind.leave(this.place, ticket)
  }

  leaveAll() {
    return this.kind.leaveAll(this.place)
  }

  settle(ticket) {
    return this.kind.settle(this.place, ticket)
  }

  queueSize() {
    return this.hasLine() ? this.kind.queueSize(this.place) : 0
  }

  /** What a newcomer's priority must exceed to go before all who wait; undefined when nobody does. */
  topPriority() {
    return this.hasLine() ? this.kind.topPriority(this.place) : undefined
  }

  cancel(reason = this.cancelError) {
    if (this.hasLine()) cancelAll(this, reason)
  }

  /** A promise for the moment when `weight` could be had. */
  watch(weight, limits) {
    const { priority, timeout, signal } = limits
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (this.isShared) return this.passThrough(limits)
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
    const { name } = this.kind
    return this.home === null ? `the ${name}` : `the ${name} of key ${nameOf(this.key)}`
  }
}

// What only some cores have of their own: those of keyed maps (which settleIn of home.js gives more),
// and those whose users chose an error. All others do without the memory.
Object.assign(Core.prototype, {
  home: null,
  generation: 0,
  cancelError: E_CANCELED,
})

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
