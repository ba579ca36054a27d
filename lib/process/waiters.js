'use strict'
// Promises that wait in a queue of C++, by ticket. C++ reports what happened to a ticket (a completion, see
// binding/completions.h); this module settles the promise.
const native = require('../addon/load.js')
const { AnyWaiter, Limits } = require('../core/waiter.js')
const { observed } = require('../core/platform.js')
const { addSource } = require('../core/pending.js')
const { keepAlive } = require('./keep_alive.js')

// The answers of C++ other than a ticket; see binding/outcome.h.
const granted = -1
const grantedAbandoned = -2
const notGranted = -3
const refused = -4
const stolen = -5
const isGranted = (outcome) => outcome === granted || outcome === grantedAbandoned

const kinds = { admitted: 0, admittedAbandoned: 1, invited: 2 }
const leaves = { left: 0, leftAwake: 1, admitted: 2 }

const mostCompletions = 1024
const completions = new Int32Array(mostCompletions + 1)
const agent = native.eventLoop.start(completions, onWakeup, () => {})

/** Whether, at the last call of the lock manager, a request of this thread waited for a lock that this thread does not hold. */
const waitsForOthers = () => completions[mostCompletions] === 1

/** Called at each wake-up of this thread, which may concern more than completions. */
const wakeupListeners = []
const addWakeupListener = (listener) => wakeupListeners.push(listener)

const waiters = []
/** Stands for a waiter that left while its invitation was on its way. */
const gone = {}

/**
 * A waiting promise. Derived classes decide what it resolves to. There may be very many waiters, so
 * every field counts.
 */
class Waiter extends AnyWaiter {
  constructor(core, resolve, limits) {
    super(resolve, limits)
    this.core = core
    this.count(+1)
  }

  /** Counts this waiter in or out, if threads share the lock. */
  count(change) {
    const { core } = this
    core.waitersHere += change
    core.share.wait(core, change)
  }

  get mode() {
    return this.core.modeOf(this.weight)
  }

  end() {
    this.count(-1)
    super.end()
  }
}

class TicketLimits extends Limits {
  constructor(weight, priority, ticket) {
    super(weight, priority)
    this.ticket = ticket
  }
}

// The executor of every promise here: one closure for all.
let lastResolve
let lastReject
const keep = (resolve, reject) => {
  lastResolve = resolve
  lastReject = reject
}

/**
 * Returns a promise for the wait of `ticket`, by a waiter of class `Kind`. `subject` is an argument of some kinds. A
 * caller that may not wait has no ticket, except at a barrier, which it breaks.
 */
function wait(core, ticket, Kind, weight, { priority, timeout, signal }, subject) {
  const promise = new Promise(keep)
  const isLimited = timeout !== undefined || signal !== undefined
  const isUsual = weight === 1 && priority === 0 && !isLimited
  const limits = isUsual ? null : new TicketLimits(weight, priority, ticket)
  if (isLimited) limits.reject = lastReject
  const waiter = new Kind(core, lastResolve, limits, lastReject, subject)
  waiters[ticket] = waiter
  lastResolve = undefined
  lastReject = undefined
  if (timeout === 0) {
    giveUp(waiter, core.timeoutError(0))
    return promise
  }
  if (core.observer !== null && !waiter.isToStay) {
    waiter.ticket = ticket
    observed.waiting(core.observer, waiter, promise)
  }
  // The observer's callback may have ended the wait.
  if (isLimited && waiters[ticket] === waiter) {
    const end = (reason) => giveUp(waiter, reason)
    limits.begin({ timeout, signal }, end, (late) => core.timeoutError(late, waiter))
  }
  return promise
}

/** The lock of each wait. A request of the lock manager that has its lock stands for itself. */
function* locksOfWaits() {
  for (const waiter of waiters) {
    const core = waiter?.core
    if (core !== undefined && core !== waiter) yield core
  }
}
addSource(locksOfWaits)

/** Makes `waiter`, which has limits, give up, unless its wait is over. */
function giveUp(waiter, reason) {
  const { ticket } = waiter.limits
  if (waiters[ticket] === waiter) goAway(ticket, reason)
}

/** Makes the waiter of `ticket` give up. */
function goAway(ticket, reason) {
  const waiter = waiters[ticket]
  const { core } = waiter
  const left = core.leave(ticket)
  // Too late: this thread has the lock, and the completion is on its way.
  if (left === leaves.admitted) return
  waiters[ticket] = left === leaves.leftAwake ? gone : undefined
  endInVain(waiter, reason)
  core.dispatch(native.eventLoop.completions())
}

/** `waiter` has left its queue. */
function endInVain(waiter, reason) {
  const { observer } = waiter.core
  waiter.end()
  if (observer !== null) observed.gaveUp(observer, waiter, reason)
  waiter.reject(reason)
}

/** Makes the waiters of every core with isMeant(core) give up, for reasonOf(core). */
function giveUpWhere(isMeant, reasonOf) {
  for (const [ticket, waiter] of waiters.entries()) {
    const core = waiter?.core
    if (core !== undefined && isMeant(core)) goAway(ticket, reasonOf(core))
  }
}

/** Takes all waiting promises of `core` out of its queue, in order. */
function takeAll(core) {
  const all = []
  let count = core.leaveAll()
  while (count > 0) {
    for (let i = 0; i < count; i++) {
      const ticket = completions[i] >> 1
      all.push(waiters[ticket])
      waiters[ticket] = completions[i] & 1 ? gone : undefined
    }
    count = count === mostCompletions ? native.eventLoop.leavers() : 0
  }
  return all
}

function cancelAll(core, reason) {
  for (const waiter of takeAll(core)) {
    if (waiter.isToStay) {
      enterAgain(core, waiter)
    } else {
      endInVain(waiter, reason)
    }
  }
  core.dispatch(native.eventLoop.completions())
}

function enterAgain(core, waiter) {
  const ticket = core.enter(waiter.weight, waiter.priority)
  if (ticket < 0) {
    // The queue ahead of this waiter is empty, and the lock is free.
    begin(waiter)
    admit(waiter, ticket === grantedAbandoned)
    return
  }
  waiters[ticket] = waiter
  if (waiter.limits !== null) waiter.limits.ticket = ticket
}

function admit(waiter, abandoned) {
  waiter.core.admit(waiter, abandoned)
}

/** Calls `admitted(waiter, abandoned)` for each of `count` completions, and for the completions that this causes. */
function takeCompletions(count, admitted = admit) {
  if (count === 1) {
    const item = completions[0]
    takeItem(item, claim(item), admitted)
    return
  }
  if (count > 0) takeClaimed(claimAll(count), admitted)
}

/** Copies all completions at once: any later call may write new ones and reuse their tickets. */
function claimAll(count) {
  return Array.from(completions.subarray(0, count), (item) => [item, claim(item)])
}

function takeClaimed(items, admitted = admit) {
  for (const [item, waiter] of items) takeItem(item, waiter, admitted)
  if (items.length === mostCompletions) takeCompletions(native.eventLoop.completions(), admitted)
}

/** The admitted waiter, whose ticket C++ has back already. Undefined for an invitation. */
function claim(item) {
  return (item & 3) === kinds.invited ? undefined : take(item >> 2)
}

/** A request of the lock manager keeps its ticket while it holds its lock, because the lock may be stolen. */
function keepTicket(ticket, waiter) {
  waiters[ticket] = waiter
}

const waiterAt = (ticket) => waiters[ticket]

function take(ticket) {
  const waiter = waiters[ticket]
  waiters[ticket] = undefined
  return waiter
}

/** The waiter is admitted. */
function begin(waiter) {
  waiter.core.began()
  waiter.end()
}

function takeItem(item, waiter, admitted) {
  if (waiter === undefined) {
    answerInvitation(item >> 2, admitted)
  } else {
    begin(waiter)
    admitted(waiter, (item & 3) === kinds.admittedAbandoned)
  }
}

function answerInvitation(ticket, admitted) {
  if (waiters[ticket] === gone) {
    waiters[ticket] = undefined
    native.eventLoop.giveTicket(ticket)
    return
  }
  const { core } = waiters[ticket]
  const outcome = core.resume(ticket)
  if (isGranted(outcome)) {
    const waiter = take(ticket)
    begin(waiter)
    admitted(waiter, outcome === grantedAbandoned)
  }
  core.answered()
}

/** Another thread has admitted waiters of this thread, has begun, or has ended. */
function onWakeup() {
  // Fetched by this call, not by the wake-up: a wake-up while the environment ends would take
  // completions that JavaScript never reads.
  const count = native.eventLoop.completions()
  if (count > 0) takeCompletions(count)
  keepAlive.update()
  for (const listener of wakeupListeners) listener()
}

module.exports = {
  addWakeupListener,
  agent,
  cancelAll,
  claimAll,
  giveUp,
  giveUpWhere,
  goAway,
  gone,
  grantedAbandoned,
  isGranted,
  keepTicket,
  notGranted,
  refused,
  stolen,
  take,
  takeClaimed,
  takeCompletions,
  Waiter,
  wait,
  waiterAt,
  waitsForOthers,
}
