'use strict'
// Promises that wait in a line of C++, by ticket. C++ says what has happened to which ticket (its
// news, see binding/event_loop.h); what that means for the promise is decided here.
const native = require('./load.js')
const { longestTimeout } = require('./options.js')

// The answers of C++ where there is no ticket; see binding/locks.cc.
const granted = -1
const grantedAbandoned = -2

const kinds = { admitted: 0, admittedAbandoned: 1, invited: 2 }
const leaves = { left: 0, leftAwake: 1, admitted: 2 }

const mostNews = 1024
const news = new Int32Array(mostNews)
const agent = native.start(news, onNews)

const waiters = []
/** In place of a waiter that has gone while its invitation was on its way. */
const gone = {}
/** How many wait for locks that other threads can release: they keep the event loop alive. */
let foreign = 0

class Waiter {
  constructor(core, settled, weight, priority, resolve, reject) {
    this.core = core
    this.settled = settled
    this.weight = weight
    this.priority = priority
    this.resolve = resolve
    this.reject = reject
    this.until = null
    if (core.isShared) keepAlive(+1)
  }

  /** The wait is over, however it went. */
  end() {
    if (this.core.isShared) keepAlive(-1)
    const { until } = this
    if (until === null) return
    this.until = null
    if (until.timer !== undefined) globalThis.clearTimeout(until.timer)
    if (until.signal !== undefined) until.signal.removeEventListener('abort', until.onAbort)
  }
}

function keepAlive(change) {
  const before = foreign
  foreign += change
  if ((before === 0) !== (foreign === 0)) native.keepAlive(foreign === 0 ? 0 : 1)
}

/** A promise for what `ticket` waits for; `settled(core, before, abandoned)` makes its value. */
function wait(core, ticket, settled, weight, { priority, timeout, signal }) {
  return new Promise((resolve, reject) => {
    const waiter = new Waiter(core, settled, weight, priority, resolve, reject)
    waiters[ticket] = waiter
    if (timeout === 0) {
      giveUp(ticket, core.timeoutError(0))
    } else if (timeout !== undefined || signal !== undefined) {
      waiter.until = limit(ticket, waiter, timeout, signal)
    }
  })
}

function limit(ticket, waiter, timeout, signal) {
  const until = { ticket, timer: undefined, signal, onAbort: undefined }
  if (signal !== undefined) {
    until.onAbort = () => giveUp(until.ticket, signal.reason)
    signal.addEventListener('abort', until.onAbort, { once: true })
  }
  if (timeout !== undefined && timeout <= longestTimeout) {
    const late = () => giveUp(until.ticket, waiter.core.timeoutError(timeout))
    until.timer = globalThis.setTimeout(late, timeout)
  }
  return until
}

function giveUp(ticket, reason) {
  const waiter = waiters[ticket]
  const { core } = waiter
  const how = core.leave(ticket)
  // Too late: the lock is ours, and the news of it are on their way.
  if (how === leaves.admitted) return
  waiters[ticket] = how === leaves.leftAwake ? gone : undefined
  waiter.end()
  waiter.reject(reason)
  core.dispatch(native.news())
}

/** Takes all promises that wait for `core` out of its line, first come first. */
function takeAll(core) {
  const all = []
  let count
  do {
    count = core.leaveAll()
    for (let i = 0; i < count; i++) {
      const ticket = news[i] >> 1
      all.push(waiters[ticket])
      waiters[ticket] = news[i] & 1 ? gone : undefined
    }
  } while (count === mostNews)
  return all
}

function cancelAll(core, reason) {
  for (const waiter of takeAll(core)) {
    waiter.end()
    waiter.reject(reason)
  }
  core.dispatch(native.news())
}

/** `move` puts the word of `core`, which nobody else knows yet, where others may find it. */
function moveAll(core, move) {
  const all = takeAll(core)
  move()
  for (const waiter of all) {
    const ticket = core.enter(waiter.weight, waiter.priority)
    waiters[ticket] = waiter
    if (waiter.until !== null) waiter.until.ticket = ticket
    keepAlive(+1)
  }
}

/** Calls `admitted(waiter, abandoned)` for each of `count` news, and whatever comes of them. */
function takeNews(count, admitted) {
  if (count === 1) {
    takeItem(news[0], admitted)
    return
  }
  while (count > 0) {
    // A copy: what comes of an item may write other news.
    for (const item of news.slice(0, count)) takeItem(item, admitted)
    count = count === mostNews ? native.news() : 0
  }
}

function takeItem(item, admitted) {
  const ticket = item >> 2
  const kind = item & 3
  if (kind === kinds.invited) {
    answerInvitation(ticket, admitted)
  } else {
    admitted(takeWaiter(ticket), kind === kinds.admittedAbandoned)
  }
}

function takeWaiter(ticket) {
  const waiter = waiters[ticket]
  waiters[ticket] = undefined
  waiter.end()
  return waiter
}

function answerInvitation(ticket, admitted) {
  if (waiters[ticket] === gone) {
    waiters[ticket] = undefined
    native.giveTicket(ticket)
    return
  }
  const { core } = waiters[ticket]
  const outcome = core.settle(ticket)
  if (outcome === granted || outcome === grantedAbandoned) {
    admitted(takeWaiter(ticket), outcome === grantedAbandoned)
  }
  core.dispatch(native.news())
}

/** Another thread has let some of ours in. */
function onNews(count) {
  takeNews(count, (waiter, abandoned) => waiter.core.admit(waiter, abandoned))
}

module.exports = { agent, cancelAll, granted, grantedAbandoned, moveAll, takeNews, wait }
