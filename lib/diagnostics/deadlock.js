'use strict'
// Deadlock detection, for locks with full diagnostics. `wait` and `hold` are claims of observer.js. chains.js knows which
// chain of calls runs under which hold; C++ knows which wait waits for which hold, for all threads
// (src/waiting/wait_graph.h).
//
// A caller may await a promise later, or never. So the detection starts at the end of the turn that made the promise.
// From then on, whenever something has run in the chain of a hold, it checks whether the hold is quiescent
// (quiescence.js). If so, C++ learns which waits the hold depends on, and names the wait that closes a cycle. That wait is
// rejected. A thread that is about to block is quiescent at once, with all its holds, and its call throws.
//
// A hold enters the graph when it becomes quiescent, and leaves before its lock is released. A hold whose chain is active
// cannot be part of a deadlock, so the graph does not need it.
const chains = require('./chains.js')
const { deadlockError, labelOf } = require('./deadlock_error.js')
const { takes } = require('./lock_order.js')
const { waitsOf } = require('./quiescence.js')
const turnEnd = require('./turn_end.js')
const { searchFailed } = require('./warnings.js')
const native = require('../addon/load.js')

const { exclusive, shared } = native.layout.waitGraph
const { valueShift } = native.layout.semaphore
const mostDeadlocks = 16

/** All holds of this thread, each with its link. */
const links = new Map()
/** Waits that began in the current turn. */
const fresh = new Set()
/** The waits and holds in the graph of C++. */
const byId = new Map()
/** Semaphores that were released more often than acquired. */
const loose = new WeakSet()
/** The locks' numbers in the graph. */
const locks = new WeakMap()
const found = []
let isDue = false

function numberOf(lock) {
  let number = locks.get(lock)
  if (number === undefined) {
    number =
      lock.shared === null ? native.waitGraph.lock() : native.waitGraph.lock(lock.shared.wordIndex)
    locks.set(lock, number)
  }
  return number
}

const wantOf = ({ mode, weight }) => weight ?? (mode === 'shared' ? shared : exclusive)

/** The description of a wait or a hold for C++. */
function factsOf(one) {
  const { lock, weight } = one
  const capacity = weight === undefined || loose.has(lock) ? 0 : wholeOf(lock)
  return [numberOf(lock), wantOf(one), capacity, one.moment, labelOf(one)]
}

/** The value of a semaphore that is not held. */
const wholeOf = ({ whole, idle }) => whole ?? idle >> valueShift

/** The number of a wait in C++. */
function enterWait(wait) {
  return wait.id ?? numbered(wait, native.waitGraph.wait(...factsOf(wait)))
}

/** The number of a hold in C++. */
function enterHold(hold) {
  return hold.id ?? numbered(hold, native.waitGraph.hold(...factsOf(hold)))
}

function numbered(one, id) {
  one.id = id
  byId.set(id, one)
  return id
}

function leave(one) {
  if (one.id === undefined) return
  native.waitGraph.end(one.id)
  byId.delete(one.id)
  one.id = undefined
}

/** Whether moments count: only a reader depends on the waits that began before its own. */
const needsMoment = ({ kind }) => (kind.name ?? kind) === 'read-write lock'

function momentOf(lock, priority = 0) {
  return needsMoment(lock) && priority === 0 ? native.waitGraph.now() : 0
}

/** The holds that a caller has for sure: that of `link`, which may be null or over, and those around it. */
function* holdsOf(link) {
  for (let each = chains.sureOf(link); each !== null; each = chains.sureOf(each.sure))
    yield each.hold
}

/** Whether a caller with these limits would have waited, and so could deadlock. */
const mayWait = (limits) => limits?.timeout !== 0 && limits?.maxPending !== 0

/** Runs at the end of this turn. */
function schedule() {
  if (isDue) return
  isDue = true
  turnEnd.atTurnEnd(search)
}

/** An error here would end the process: it has no caller. */
function search() {
  isDue = false
  try {
    searchAll()
  } catch (error) {
    searchFailed(error)
  }
}

function searchAll() {
  for (const wait of fresh) {
    const { limits, how } = wait.waiter
    // A timeout does not resolve the deadlock: until then the caller is stuck.
    const timer = (limits ?? how)?.timer
    if (timer !== undefined) chains.disregard(timer)
    // A queued writer blocks the readers behind it, whether it holds a lock or not.
    if (needsMoment(wait.lock) && wait.mode === 'exclusive') enterWait(wait)
  }
  fresh.clear()
  let results = new Map()
  for (const link of chains.changed()) {
    const waits = waitsOf(link, results)
    if (waits.length === 0) continue
    const [refused, ...labels] = native.waitGraph.depend(enterHold(link.hold), waits.map(enterWait))
    if (refused === undefined) continue
    refuse(byId.get(refused), labels)
    results = new Map()
  }
}

function refuse(wait, labels) {
  const error = deadlockError(labels)
  remember(error)
  wait.lock.turnAway(wait.waiter, error)
}

function remember(error) {
  found.push({ at: Date.now(), message: error.message, cycle: error.cycle })
  if (found.length > mostDeadlocks) found.shift()
}

/** `wait` is about to block this thread. Throws when that would deadlock. */
function block(wait) {
  for (const hold of links.keys()) enterHold(hold)
  const [refused, ...labels] = native.waitGraph.block(enterWait(wait))
  if (refused === undefined) return
  const error = deadlockError(labels)
  remember(error)
  throw error
}

const hooks = {
  /** Starts to follow chains. */
  start() {
    chains.follow(schedule)
    turnEnd.start()
  },

  /**
   * `wait` is in the queue and not admitted yet; if wait.isSync, its thread is about to block. When it throws, the caller
   * does not wait.
   */
  asks(wait) {
    wait.around = wait.isSync ? null : chains.currentLink()
    wait.sure = wait.isSync ? null : chains.sureLink()
    const { isOrdered, isSought } = wait.observer
    if (isOrdered) takes(wait, wait.isSync ? links.keys() : holdsOf(wait.sure))
    // An upgrade waits while it holds the lock itself: the graph does not cover that.
    if (wait.hold !== undefined || !isSought) return
    wait.moment = momentOf(wait.lock, wait.priority)
    if (wait.isSync) {
      block(wait)
      return
    }
    chains.waitsFor(wait, wait.around)
    fresh.add(wait)
    schedule()
  },

  /** `wait` is over, whatever its result. */
  endsAsk(wait) {
    fresh.delete(wait)
    leave(wait)
    chains.waited(wait)
  },

  /** The lock is granted: to `wait`, or, when that is null, to a caller that did not wait and is not known yet. */
  holds(hold, wait) {
    const around = wait === null ? chains.currentLink() : wait.around
    const sure = wait === null ? chains.sureLink() : wait.sure
    hold.moment = momentOf(hold.lock)
    const link = new chains.Link(hold, around, sure)
    links.set(hold, link)
    const promise = wait?.promise
    if (hold.observer.scope === 'cluster') chains.enters(link)
    else if (promise !== undefined) chains.hands(link, promise, wait)
  },

  /** The code that awaits `promise` has `hold`, which was granted at once. After a wait, holds() has done this. */
  gives(hold, promise, limits) {
    const link = links.get(hold)
    if (link === undefined) return
    chains.hands(link, promise)
    if (hold.observer.isOrdered && mayWait(limits)) takes(hold, holdsOf(link.sure))
  },

  /** A call that would have blocked this thread, with all its holds, has given it `hold` at once. */
  blocked(hold) {
    takes(hold, links.keys())
  },

  /** The hold is about to be released. */
  releases(hold) {
    leave(hold)
    links.get(hold)?.end()
    links.delete(hold)
  },

  /** A semaphore gets units that no caller has taken. */
  loosens(lock) {
    loose.add(lock)
    if (lock.shared !== null) native.waitGraph.loosen(numberOf(lock))
  },

  /** The latest deadlocks of this thread that were prevented. */
  deadlocks() {
    return [...found]
  },
}

module.exports = hooks
