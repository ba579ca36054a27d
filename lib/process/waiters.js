'use strict'
// Promises that wait in a queue of C++, by ticket. C++ reports what happened to a ticket (a completion, see
// binding/completions.h); this module settles the promise.
const native = require('../addon/load.js')
const { AnyLock } = require('../core/lock.js')
const { AnyWaiter } = require('../core/waiter.js')
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

/** Whether requests of this thread wait for locks that other threads hold, as of the last call of the lock manager. */
const waitsForOthers = () => completions[mostCompletions] === 1

/** Functions to call at each wake-up of this thread, which may be for more than completions. */
const wakeupListeners = []
const addWakeupListener = (listener) => wakeupListeners.push(listener)

/**
 * A waiting promise. Derived classes decide by value() what it resolves to. There may be very many waiters, so every
 * field costs memory.
 */
class Waiter extends AnyWaiter {
  static value() {}

  constructor(resolve, limits, _subject, lock) {
    super(resolve, limits)
    this.lock = lock
    this.count(+1)
  }

  /** Counts this waiter in (+1) or out (-1). */
  count(change) {
    const { lock } = this
    lock.shared.wait(lock, change)
  }

  end() {
    this.count(-1)
    super.end()
  }
}

/** The methods of a queue in the sense of core/waiter.js, for locks whose waiters have tickets. */
const ticketQueue = {
  enqueue(waiter, ticket) {
    tickets.keep(ticket, waiter)
    if (waiter.limits !== null) waiter.limits.ticket = ticket
    // The observer may make a waiter without limits leave.
    else if (this.observer !== null) waiter.ticket = ticket
  },

  /** Rejects `waiter`, unless its wait is over. */
  leave(waiter, reason) {
    const { ticket } = waiter.limits ?? waiter
    if (tickets.at(ticket) === waiter) abandonWait(ticket, reason)
  },
}

/**
 * Yields the lock of each wait, for pending.js. Skips requests of the lock manager that hold their lock, and lenders:
 * the waiters of a lent mutex are in a queue of this thread.
 */
function* locksOfWaits() {
  for (const [, waiter] of tickets) {
    const { lock } = waiter
    if (lock instanceof AnyLock && lock !== waiter) yield lock
  }
}
addSource(locksOfWaits)

/** Makes the waiter of `ticket` leave its queue, and rejects it. */
function abandonWait(ticket, reason) {
  const waiter = tickets.at(ticket)
  const { lock } = waiter
  const left = lock.leaveQueue(ticket)
  // Too late: the waiter has been admitted, and its completion is on the way.
  if (left === leaves.admitted) return
  tickets.leave(ticket, left)
  lock.fail(waiter, reason)
  lock.dispatch(native.eventLoop.completions())
}

/** Rejects the waiters of every lock for which isMeant(lock) is true, with reasonOf(lock). */
function giveUpWhere(isMeant, reasonOf) {
  for (const [ticket, { lock }] of tickets) {
    if (isMeant(lock)) abandonWait(ticket, reasonOf(lock))
  }
}

/** Removes all waiting promises of `lock` from its queue, and returns them in order. */
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
    if (waiter.isToStay) enterAgain(lock, waiter)
    else lock.fail(waiter, reason)
  }
  lock.dispatch(native.eventLoop.completions())
}

function enterAgain(lock, waiter) {
  const ticket = lock.enter(waiter.weight, waiter.priority, waiter.isPassing)
  if (ticket < 0) {
    // No waiter is ahead, and the lock is free.
    begin(waiter)
    admit(waiter, ticket === grantedAbandoned)
    return
  }
  lock.enqueue(waiter, ticket)
}

function admit(waiter, abandoned) {
  waiter.lock.admit(waiter, abandoned)
}

/**
 * Takes `count` completions, and those that they cause. Calls `admitted(waiter, abandoned)` for each admitted waiter.
 */
function takeCompletions(count, admitted = admit) {
  if (count === 1) {
    const item = completions[0]
    takeItem(item, claim(item), admitted)
    return
  }
  if (count > 0) takeClaimed(claimAll(count), admitted)
}

/** Copies all completions first, because any later call into C++ may write new ones and reuse their tickets. */
function claimAll(count) {
  return Array.from(completions.subarray(0, count), (item) => [item, claim(item)])
}

function takeClaimed(items, admitted = admit) {
  for (const [item, waiter] of items) takeItem(item, waiter, admitted)
  if (items.length === mostCompletions) takeCompletions(native.eventLoop.completions(), admitted)
}

/** Returns the admitted waiter of a completion, and frees its ticket. Returns undefined for an invitation. */
function claim(item) {
  return (item & kindMask) === kinds.invited ? undefined : tickets.take(item >> kinds.bits)
}

/** Ends the wait of an admitted waiter. */
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

/** Called when another thread has admitted waiters of this thread, has started, or has ended. */
function onWakeup() {
  // This call fetches the completions. If the wake-up did, then during the end of the environment it would take
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
