'use strict'
// Promises that wait in a queue of C++, by ticket. C++ reports what happened to a ticket (a completion, see
// binding/completions.h); this module settles the promise.
const native = require('../addon/load.js')
const { AnyLock } = require('../core/lock.js')
const { AnyWaiter } = require('../core/waiter.js')
const { observed } = require('../core/platform.js')
const { addSource } = require('../core/pending.js')
const { keepAlive } = require('./keep_alive.js')
const { tickets } = require('./tickets.js')

const { completions: kinds, leavers, leaves, outcomes } = native.layout
const kindMask = (1 << kinds.bits) - 1
// The answers of C++ other than a ticket.
const { granted, grantedAbandoned, notGranted, refused, stolen } = outcomes
const isGranted = (outcome) => outcome === granted || outcome === grantedAbandoned

const mostCompletions = kinds.most
const completions = new Int32Array(mostCompletions + 1)
const agent = native.eventLoop.start(completions, onWakeup, () => {})

/** Whether this thread waited, at the last call of the lock manager, for a lock that it does not hold itself. */
const waitsForOthers = () => completions[mostCompletions] === 1

/** Called at each wake-up of this thread, which may concern more than completions. */
const wakeupListeners = []
const addWakeupListener = (listener) => wakeupListeners.push(listener)

/**
 * A waiting promise. Derived classes decide what it resolves to. There may be very many waiters, so
 * every field counts.
 */
class Waiter extends AnyWaiter {
  constructor(resolve, limits, _subject, lock) {
    super(resolve, limits)
    this.lock = lock
    this.count(+1)
  }

  /** Counts this waiter in or out, if threads share the lock. */
  count(change) {
    const { lock } = this
    lock.shared.wait(lock, change)
  }

  get mode() {
    return this.lock.modeOf(this.weight)
  }

  end() {
    this.count(-1)
    super.end()
  }
}

/** The queue of C++ as one of core/waiter.js, for locks whose waiters have tickets. */
const ticketQueue = {
  enqueue(waiter, ticket) {
    tickets.keep(ticket, waiter)
    if (waiter.limits !== null) waiter.limits.ticket = ticket
    if (this.observer !== null) waiter.ticket = ticket
  },

  /** Does nothing after the wait is over. */
  leave(waiter, reason) {
    const { ticket } = waiter.limits
    if (tickets.at(ticket) === waiter) abandonWait(ticket, reason)
  },

  /** Makes `waiter` give up before it has waited. Its observer calls it. */
  turnAway(waiter, reason) {
    if (tickets.at(waiter.ticket) === waiter) abandonWait(waiter.ticket, reason)
  },
}

/**
 * The lock of each wait. A request of the lock manager that has its lock stands for itself. A lender has no such waits:
 * those of its mutex are in a queue of this thread.
 */
function* locksOfWaits() {
  for (const [, waiter] of tickets) {
    const { lock } = waiter
    if (lock instanceof AnyLock && lock !== waiter) yield lock
  }
}
addSource(locksOfWaits)

/** Makes the waiter of `ticket` give up. */
function abandonWait(ticket, reason) {
  const waiter = tickets.at(ticket)
  const { lock } = waiter
  const left = lock.leaveQueue(ticket)
  // Too late: this thread has the lock, and the completion is on its way.
  if (left === leaves.admitted) return
  tickets.leave(ticket, left)
  fail(waiter, reason)
  lock.dispatch(native.eventLoop.completions())
}

/** `waiter` has left its queue. */
function fail(waiter, reason) {
  const { observer } = waiter.lock
  waiter.end()
  if (observer !== null) observed.gaveUp(observer, waiter, reason)
  waiter.reject(reason)
}

/** Makes the waiters of every lock with isMeant(lock) give up, for reasonOf(lock). */
function giveUpWhere(isMeant, reasonOf) {
  for (const [ticket, { lock }] of tickets) {
    if (isMeant(lock)) abandonWait(ticket, reasonOf(lock))
  }
}

/** Takes all waiting promises of `lock` out of its queue, in order. */
function takeAll(lock) {
  const all = []
  let count = lock.leaveAll()
  while (count > 0) {
    for (let i = 0; i < count; i++) {
      const ticket = completions[i] >> leavers.bits
      all.push(tickets.at(ticket))
      tickets.leave(ticket, completions[i] & leavers.invited ? leaves.leftAwake : leaves.left)
    }
    count = count === mostCompletions ? native.eventLoop.leavers() : 0
  }
  return all
}

function cancelAll(lock, reason) {
  for (const waiter of takeAll(lock)) {
    if (waiter.isToStay) {
      enterAgain(lock, waiter)
    } else {
      fail(waiter, reason)
    }
  }
  lock.dispatch(native.eventLoop.completions())
}

function enterAgain(lock, waiter) {
  const ticket = lock.enter(waiter.weight, waiter.priority, waiter.isPassing)
  if (ticket < 0) {
    // The queue ahead of this waiter is empty, and the lock is free.
    begin(waiter)
    admit(waiter, ticket === grantedAbandoned)
    return
  }
  tickets.keep(ticket, waiter)
  if (waiter.limits !== null) waiter.limits.ticket = ticket
}

function admit(waiter, abandoned) {
  waiter.lock.admit(waiter, abandoned)
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
  return (item & kindMask) === kinds.invited ? undefined : tickets.take(item >> kinds.bits)
}

/** The waiter is admitted. */
function begin(waiter) {
  waiter.lock.began()
  waiter.end()
}

function takeItem(item, waiter, admitted) {
  if (waiter === undefined) {
    answerInvitation(item >> kinds.bits, admitted)
  } else {
    begin(waiter)
    admitted(waiter, (item & kindMask) === kinds.admittedAbandoned)
  }
}

function answerInvitation(ticket, admitted) {
  const { lock } = tickets.at(ticket)
  const outcome = lock.resume(ticket)
  if (isGranted(outcome)) {
    const waiter = tickets.take(ticket)
    begin(waiter)
    admitted(waiter, outcome === grantedAbandoned)
  }
  lock.answered()
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
  giveUpWhere,
  abandonWait,
  grantedAbandoned,
  isGranted,
  notGranted,
  refused,
  stolen,
  takeClaimed,
  takeCompletions,
  ticketQueue,
  Waiter,
  waitsForOthers,
}
