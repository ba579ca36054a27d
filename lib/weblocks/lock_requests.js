'use strict'
// Requests of the lock manager (src/locks/lock_manager.h). One has a ticket from its beginning until it has let
// go, and its place among the waiters: that of its promise while it waits, then its own, since its lock
// may be stolen.
const { nameOf } = require('../core/keys.js')
const { AnyLock } = require('../core/lock.js')
const { modeNames } = require('./request_options.js')
const native = require('../load.js')
const { makeReleaser } = require('../core/releaser.js')
const { checkStack, checkStackToRelease } = require('../core/stack.js')
const { keepAlive } = require('../process/shares.js')
const {
  gone,
  keepTicket,
  notGranted,
  stolen,
  take,
  takeCompletions,
  wait,
  Waiter,
  waitsForOthers,
} = require('../process/waiters.js')
const { lockOf } = require('./lock.js')

// As binding/lock_manager.cc has them.
const manners = { wait: 0, ifAvailable: 1, steal: 2 }
const answers = { waiting: 0, granted: 1, grantedAbandoned: 2 }
const answerBits = 2

// In place of a ticket, once it is over.
const released = -1
const lost = -2

const done = Promise.resolve()

/** Whether a request of this thread keeps the event loop alive. */
let isKeptAlive = false

/** One more or one less waits or holds: only what another thread could release is to be stayed for. */
function settleWaiting() {
  const keeps = waitsForOthers()
  if (keeps === isKeptAlive) return
  isKeptAlive = keeps
  keepAlive(keeps ? +1 : -1)
}

class Request extends AnyLock {
  constructor(name, mode, ticket, callback, signal) {
    super()
    this.name = name
    this.mode = mode
    this.ticket = ticket
    this.callback = callback
    this.callerSignal = signal
    this.onStolen = undefined
    this.abandoned = false
    this.loss = undefined
  }

  /** While it holds its lock it has its place among the waiters itself. */
  get core() {
    return this
  }

  get isStolen() {
    return this.ticket === lost
  }

  leave(ticket) {
    this.ticket = released
    return native.lockManager.leave(ticket)
  }

  settle(ticket) {
    const outcome = native.lockManager.settle(ticket)
    if (outcome !== stolen) return outcome
    const waiter = take(ticket)
    this.lose()
    if (waiter === this) {
      settleWaiting()
    } else {
      // Granted and stolen before we have heard of either.
      waiter.end()
      waiter.lose()
    }
    return notGranted
  }

  began() {
    keepTicket(this.ticket, this)
  }

  admit(waiter, abandoned) {
    waiter.resolve(waiter.constructor.value(this, 1, abandoned))
  }

  /** What has been settled by that concerns no other request. */
  answered() {}

  dispatch(count) {
    if (count > 0) takeCompletions(count)
  }

  release() {
    const { ticket } = this
    if (ticket < 0) return
    checkStackToRelease()
    this.ticket = released
    const count = native.lockManager.release(ticket)
    if (count === stolen) {
      keepTicket(ticket, gone) // the completion of that is on its way
      this.lose()
    } else {
      take(ticket)
      this.dispatch(count)
    }
    settleWaiting()
  }

  lose() {
    this.ticket = lost
    this.loss?.abort(this.stolenError())
    this.onStolen?.()
  }

  /** Aborts when its lock is stolen. */
  get signal() {
    if (this.loss === undefined) {
      this.loss = new AbortController()
      if (this.isStolen) this.loss.abort(this.stolenError())
    }
    return this.loss.signal
  }

  stolenError() {
    return new DOMException(`${this.title()} has been stolen`, 'AbortError')
  }

  title() {
    return `the lock ${nameOf(this.name)}`
  }
}

/** The promise of a request that waits. */
class Pending extends Waiter {
  /** settleWaiting() counts. */
  count() {}

  end() {
    super.end()
    settleWaiting()
  }
}

/** For request(), which goes on to the callback, as the standard has it, though the lock be stolen by now. */
class Runner extends Pending {
  static value(request, _weight, abandoned) {
    request.abandoned = abandoned
    return request
  }

  lose() {
    this.resolve(this.core)
  }
}

/** For acquire(). */
class Acquirer extends Pending {
  static value(request, _weight, abandoned) {
    return releaser(request, abandoned)
  }

  lose() {
    this.reject(this.core.stolenError())
  }
}

/**
 * A promise for what the class `Kind` of waiters makes of a request for `name`. Undefined where that is not
 * available.
 */
function enter(name, wish, Kind, callback) {
  checkStack()
  const { ifAvailable, mode, signal, steal, priority } = wish
  const manner = steal ? manners.steal : ifAvailable ? manners.ifAvailable : manners.wait
  const how = mode | (manner << 1)
  const answer =
    priority === 0
      ? native.lockManager.request(name, how)
      : native.lockManager.request(name, how, priority)
  if (answer === notGranted) return undefined
  const ticket = answer >> answerBits
  const what = answer & ((1 << answerBits) - 1)
  const request = new Request(name, mode, ticket, callback, signal)
  settleWaiting()
  if (what === answers.waiting) return wait(request, ticket, Kind, 1, wish)
  keepTicket(ticket, request)
  if (steal) request.dispatch(native.eventLoop.completions())
  return Promise.resolve(Kind.value(request, 1, what === answers.grantedAbandoned))
}

/** A promise for what `callback` makes of the lock. */
function request(name, wish, callback) {
  const held = enter(name, wish, Runner, callback)
  return held === undefined ? done.then(() => callback(null)) : held.then(call)
}

/** A promise for a Releaser, or for undefined where the lock is not available. */
function acquire(name, wish) {
  return enter(name, wish, Acquirer) ?? Promise.resolve(undefined)
}

/** Calls back with the lock of `request`. The promise is for what that settles to, or that it was stolen. */
function call(request) {
  const { callback, callerSignal: signal } = request
  try {
    if (signal?.aborted && !request.isStolen) throw signal.reason
  } catch (error) {
    // Aborted, or a signal of strange make.
    request.release()
    throw error
  }
  request.callback = undefined
  request.callerSignal = undefined
  return new Promise((resolve, reject) => {
    request.onStolen = () => reject(request.stolenError())
    if (request.isStolen) request.onStolen()
    run(request, callback, resolve, reject)
  })
}

async function run(request, callback, resolve, reject) {
  let value
  try {
    value = await callback(lockOf(request, request))
  } catch (error) {
    request.release()
    reject(error)
    return
  }
  request.release()
  resolve(value)
}

function releaser(request, abandoned) {
  const release = makeReleaser(() => request.release(), abandoned)
  const get = () => request.signal
  return Object.defineProperty(release, 'signal', { configurable: true, enumerable: true, get })
}

native.lockManager.start(require('node:worker_threads').threadId)

/** What is held and waited for, in all threads. */
function query() {
  const snapshot = { held: [], pending: [] }
  const all = native.lockManager.query()
  for (let i = 0; i < all.length; i += 3) {
    const [name, state, thread] = all.slice(i, i + 3)
    const list = state & 2 ? snapshot.held : snapshot.pending
    const clientId = `node-${process.pid}-${thread}`
    list.push({ name, mode: modeNames[state & 1], clientId })
  }
  return snapshot
}

module.exports = { acquire, query, request }
