'use strict'
// Deadlock detection, for locks with full diagnostics. `wait` and `hold` are claims (claim.js). chains.js knows which
// chain of calls runs under which hold. C++ knows which wait waits for which hold, in all threads
// (src/waiting/wait_graph.h).
//
// A caller may await a promise later, or never. So the detection starts at the end of the turn that made the promise.
// From then on, whenever something has run in the chain of a hold, it checks whether the hold is quiescent
// (quiescence.js). If so, C++ learns which waits the hold depends on, and names the wait that closes a cycle. That wait
// rejects. A thread that is about to block is quiescent at once, with all its holds, and its call throws.
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
/** Semaphores to which callers have added units that no caller had taken. */
const loose = new WeakSet()
/** The locks' numbers in the graph. */
const locks = new WeakMap()
const found = []

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

/** Returns what C++ needs to know of a wait or a hold. */
function factsOf(one) {
  const { lock, weight } = one
  const capacity = weight === undefined || loose.has(lock) ? 0 : wholeOf(lock)
  return [numberOf(lock), wantOf(one), capacity, one.moment, labelOf(one)]
}

/** The value of a semaphore of which no unit is taken. */
const wholeOf = ({ whole, idle }) => whole ?? idle >> valueShift

const enterWait = (wait) => enter(wait, native.waitGraph.wait)
const enterHold = (hold) => enter(hold, native.waitGraph.hold)

/** Enters a wait or a hold into the graph of C++ by the function `add`, if need be. Returns its number. */
function enter(one, add) {
  if (one.id === undefined) {
    one.id = add(...factsOf(one))
    byId.set(one.id, one)
  }
  return one.id
}

function leave(one) {
  if (one.id === undefined) return
  native.waitGraph.end(one.id)
  byId.delete(one.id)
  one.id = undefined
}

/** Whether the time of a wait matters. Only a reader depends on waits that began before its own. */
const needsMoment = ({ kind }) => (kind.name ?? kind) === 'read-write lock'

function momentOf(lock, priority = 0) {
  return needsMoment(lock) && priority === 0 ? native.waitGraph.now() : 0
}

/**
 * Yields the holds that a caller has for sure: the hold of `link`, which may be null or over, and the holds around it.
 */
function* holdsOf(link) {
  for (let each = chains.sureOf(link); each !== null; each = chains.sureOf(each.sure))
    yield each.hold
}

/** Whether a caller with these limits would have waited, and so could deadlock. */
const mayWait = (limits) => limits?.timeout !== 0 && limits?.maxPending !== 0

/** Searches for deadlocks. Reports an error, because one without a caller would end the process. */
function search() {
  try {
    searchAll()
  } catch (error) {
    searchFailed(error)
  }
}

function searchAll() {
  for (const wait of fresh) {
    const { limits, how } = wait.waiter
    // Until the timeout the caller is stuck, so its timer must not count as activity of the chain.
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
  wait.lock.leave(wait.waiter, error)
}

function remember(error) {
  found.push({ at: Date.now(), message: error.message, cycle: error.cycle })
  if (found.length > mostDeadlocks) found.shift()
}

/** Throws if `wait`, which is about to block this thread, would deadlock. */
function block(wait) {
  for (const hold of links.keys()) enterHold(hold)
  const [refused, ...labels] = native.waitGraph.block(enterWait(wait))
  if (refused === undefined) return
  const error = deadlockError(labels)
  remember(error)
  throw error
}

const hooks = {
  start() {
    turnEnd.start(search)
    chains.follow(turnEnd.schedule)
  },

  /**
   * Called when `wait` has entered the queue or, if wait.isSync, when its thread is about to block. If this throws, the
   * caller does not wait.
   */
  asks(wait) {
    wait.around = wait.isSync ? null : chains.currentLink()
    wait.sure = wait.isSync ? null : chains.sureLink()
    const { isOrdered, isSought } = wait.observer
    if (isOrdered) takes(wait, wait.isSync ? links.keys() : holdsOf(wait.sure))
    // An upgrade waits while it holds the same lock, which the graph does not cover.
    if (wait.hold !== undefined || !isSought) return
    wait.moment = momentOf(wait.lock, wait.priority)
    if (wait.isSync) {
      block(wait)
      return
    }
    chains.waitsFor(wait, wait.around)
    fresh.add(wait)
    turnEnd.schedule()
  },

  /** Called when `wait` is over, with any result. */
  endsAsk(wait) {
    fresh.delete(wait)
    leave(wait)
    chains.waited(wait)
  },

  /** Called when the lock is granted to `wait`, or if that is null to a caller that did not wait. */
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

  /**
   * Gives `hold` to the code that awaits `promise`, for a grant without a wait. After a wait, holds() has done this.
   */
  gives(hold, promise, limits) {
    const link = links.get(hold)
    if (link === undefined) return
    chains.hands(link, promise)
    if (hold.observer.isOrdered && mayWait(limits)) takes(hold, holdsOf(link.sure))
  },

  /** Called when a blocking call has got `hold` without a wait: it could have waited with all holds of this thread. */
  blocked(hold) {
    takes(hold, links.keys())
  },

  /** Called when `hold` is about to be released. */
  releases(hold) {
    leave(hold)
    links.get(hold)?.end()
    links.delete(hold)
  },

  /** Called when a semaphore gets units that no caller had taken. */
  loosens(lock) {
    loose.add(lock)
    if (lock.shared !== null) native.waitGraph.loosen(numberOf(lock))
  },

  /** Returns the latest deadlocks that this thread has prevented. */
  deadlocks() {
    return [...found]
  },
}

module.exports = hooks
