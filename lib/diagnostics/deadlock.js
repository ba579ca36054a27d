'use strict'
// The search for deadlocks, for locks with full diagnostics. `wait` and `hold` are those of observer.js; which chain of
// calls goes on with which hold is in chains.js, and which wait waits for which hold in C++, for all threads
// (src/waiting/wait_graph.h).
//
// A promise may be asked for and awaited later, or never; so nothing is looked for before the turn ends that asked.
// From then on, whenever something has run in the chain of a hold, it is seen whether that is quiescent: if so, C++
// is told which waits the hold depends on, and says which of them closes a cycle. That one is refused. A thread
// that is about to block is quiescent at once, with all that it holds, and its call throws.
//
// A hold enters the graph when it is quiescent, and leaves before its lock is let go of. One that is doing something is
// not there: nothing is lost without it.
const { setImmediate } = require('node:timers') // at load: users fake clocks
const chains = require('./chains.js')
const { deadlockError, labelOf } = require('./deadlock_error.js')
const { waitsOf } = require('./quiescence.js')
const native = require('../load.js')

const exclusive = 0
const shared = -1
const valueShift = 2
const mostDeadlocks = 16

/** All holds of this thread, each with its link. */
const links = new Map()
/** Waits of the turn that is going on. */
const fresh = new Set()
/** The waits and the holds that are known to C++. */
const byId = new Map()
/** Semaphores that have been given more than was taken. */
const loose = new WeakSet()
/** Numbers of locks. */
const locks = new WeakMap()
const found = []
let isDue = false

function numberOf(lock) {
  let number = locks.get(lock)
  if (number === undefined) {
    number = lock.share === null ? native.waitGraph.lock() : native.waitGraph.lock(lock.share.place)
    locks.set(lock, number)
  }
  return number
}

const wantOf = ({ mode, weight }) => weight ?? (mode === 'shared' ? shared : exclusive)

/** What C++ is told of a wait or a hold. */
function factsOf(one) {
  const { lock, weight } = one
  const capacity = weight === undefined || loose.has(lock) ? 0 : wholeOf(lock)
  return [numberOf(lock), wantOf(one), capacity, one.moment, labelOf(one)]
}

/** The value of a semaphore when nothing of it is held. */
const wholeOf = ({ whole, idle }) => whole ?? idle >> valueShift

/** What C++ knows `one` by, as a 'wait' or a 'hold'. */
function enter(one, as) {
  if (one.id === undefined) {
    one.id = native.waitGraph[as](...factsOf(one))
    byId.set(one.id, one)
  }
  return one.id
}

const enterWait = (wait) => enter(wait, 'wait')

function leave(one) {
  if (one.id === undefined) return
  native.waitGraph.end(one.id)
  byId.delete(one.id)
  one.id = undefined
}

/** Only a reader has to know what was before. */
const needsMoment = ({ kind }) => (kind.name ?? kind) === 'read-write lock'

function momentOf(lock, priority = 0) {
  return needsMoment(lock) && priority === 0 ? native.waitGraph.now() : 0
}

/** At the end of this turn. */
function schedule() {
  if (isDue) return
  isDue = true
  chains.apart(() => setImmediate(search))
}

function search() {
  isDue = false
  for (const wait of fresh) {
    const { limits, how } = wait.waiter
    // That it will give up is no way on: until then it is stuck.
    const timer = (limits ?? how)?.timer
    if (timer !== undefined) chains.disregard(timer)
    // A writer is in the way of readers behind it, whether it holds something or not.
    if (needsMoment(wait.lock) && wait.mode === 'exclusive') enterWait(wait)
  }
  fresh.clear()
  for (const link of chains.changed()) {
    const waits = waitsOf(link)
    if (waits.length === 0) continue
    const [refused, ...labels] = native.waitGraph.depend(
      enter(link.hold, 'hold'),
      waits.map(enterWait),
    )
    if (refused !== undefined) refuse(byId.get(refused), labels)
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

/** `wait` is about to block this thread. Throws when it would for ever. */
function block(wait) {
  for (const hold of links.keys()) enter(hold, 'hold')
  const [refused, ...labels] = native.waitGraph.block(enterWait(wait))
  if (refused === undefined) return
  const error = deadlockError(labels)
  remember(error)
  throw error
}

const hooks = {
  /** From now on chains are followed. */
  start() {
    chains.follow(schedule)
  },

  /** `wait` is in line, and nobody has let it in yet; or, if wait.isSync, its thread is about to block. If it throws, nobody waits. */
  asks(wait) {
    // One that upgrades waits for others to go while it holds the lock itself: that is not looked into.
    if (wait.hold !== undefined) return
    wait.moment = momentOf(wait.lock, wait.priority)
    if (wait.isSync) {
      block(wait)
      return
    }
    wait.around = chains.currentLink()
    chains.waitsFor(wait, wait.around)
    fresh.add(wait)
    schedule()
  },

  /** The same is over, however it went. */
  endsAsk(wait) {
    fresh.delete(wait)
    leave(wait)
    chains.waited(wait)
  },

  /** It has been granted, to `wait` or, where that is null, in this moment: nobody knows yet who asked for it. */
  holds(hold, wait) {
    const around = wait === null ? chains.currentLink() : (wait.around ?? null)
    hold.moment = momentOf(hold.lock)
    const link = new chains.Link(hold, around)
    links.set(hold, link)
    const promise = wait?.promise
    if (promise !== undefined) chains.hands(link, promise, wait)
  },

  /** Whoever awaits `promise` has `hold`, which was granted at once. Where it was waited for, holds() has said so. */
  gives(hold, promise) {
    const link = links.get(hold)
    if (link !== undefined) chains.hands(link, promise)
  },

  /** It is about to be let go. */
  releases(hold) {
    leave(hold)
    links.get(hold)?.end()
    links.delete(hold)
  },

  /** Of a semaphore, which somebody gives what nobody has taken. */
  loosens(lock) {
    loose.add(lock)
    if (lock.share !== null) native.waitGraph.loosen(numberOf(lock))
  },

  /** Of this thread: the last ones that were refused. */
  deadlocks() {
    return [...found]
  },
}

module.exports = hooks
