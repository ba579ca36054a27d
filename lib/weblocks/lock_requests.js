'use strict'
// Requests of the lock manager (src/locks/lock_manager.h). A request has a ticket from its start until its release.
// While it waits, its promise is the waiter of the ticket. Once it holds the lock, the request itself is, because the
// lock may be stolen.
const { LazySignal } = require('../core/lazy_signal.js')
const { nameOf } = require('../core/keys.js')
const { AnyLock } = require('../core/lock.js')
const { modeNames } = require('./request_options.js')
const native = require('../addon/load.js')
const { defineLazy, makeReleaser } = require('../core/releaser.js')
const { checkStack, checkStackToRelease } = require('../core/stack.js')
const { wait } = require('../core/waiter.js')
const { keepAlive } = require('../process/keep_alive.js')
const { tickets } = require('../process/tickets.js')
const {
  notGranted,
  stolen,
  takeCompletions,
  ticketQueue,
  Waiter,
  waitsForOthers,
} = require('../process/waiters.js')
const { checkInTime, makeLock } = require('./lock.js')

const { leaves, requestAnswers: answers, requestManners: manners, requestModes } = native.layout

// The values of `ticket` once the request is over.
const released = -1
const lost = -2

const done = Promise.resolve()

/** Whether a request of this thread keeps the event loop alive. */
let isKeptAlive = false

/**
 * Called when a request begins or ends. Keeps the event loop alive only for locks that another thread could release.
 */
function updateKeepAlive() {
  const keeps = waitsForOthers()
  if (keeps === isKeptAlive) return
  isKeptAlive = keeps
  keepAlive.count(keeps ? +1 : -1)
}

class Request extends AnyLock {
  constructor(name, mode, ticket) {
    super()
    this.name = name
    this.mode = mode
    this.ticket = ticket
    this.onStolen = undefined
    this.abandoned = false
    this.lossSignal = undefined
  }

  /** The lock of the ticket's waiter: the request is that waiter while it holds its lock. */
  get lock() {
    return this
  }

  get isStolen() {
    return this.ticket === lost
  }

  leaveQueue(ticket) {
    this.ticket = released
    return native.lockManager.leave(ticket)
  }

  resume(ticket) {
    const outcome = native.lockManager.resume(ticket)
    if (outcome !== stolen) return outcome
    const waiter = tickets.take(ticket)
    this.lose()
    if (waiter === this) {
      updateKeepAlive()
    } else {
      // The lock was granted and stolen before this thread read the completion of the grant.
      waiter.end()
      waiter.lose()
    }
    return notGranted
  }

  began() {
    tickets.keep(this.ticket, this)
  }

  admit(waiter, abandoned) {
    waiter.resolve(waiter.constructor.value(this, 1, abandoned))
  }

  /** Does nothing: an answer settles only this request. */
  answered() {}

  dispatch(count) {
    if (count > 0) takeCompletions(count)
  }

  /**
   * Releases the lock. `isUndelivered`: no caller has seen the grant, so a death that it reports goes to the next
   * grant.
   */
  release(isUndelivered = false) {
    const { ticket } = this
    if (ticket < 0) return
    checkStackToRelease()
    this.ticket = released
    const { release } = native.lockManager
    const count = isUndelivered ? release(ticket, 1) : release(ticket)
    if (count === stolen) {
      tickets.leave(ticket, leaves.leftAwake) // its completion is on the way
      this.lose()
    } else {
      tickets.take(ticket)
      this.dispatch(count)
    }
    updateKeepAlive()
  }

  lose() {
    this.ticket = lost
    this.#loss.abort(this.stolenError())
    this.onStolen?.()
  }

  /** A signal that aborts when the lock is stolen. */
  get signal() {
    return this.#loss.signal
  }

  /** The signal's source, which is made on first use because very many requests may wait. */
  get #loss() {
    this.lossSignal ??= new LazySignal()
    return this.lossSignal
  }

  stolenError() {
    return new DOMException(`${this.title()} has been stolen`, 'AbortError')
  }

  title() {
    return `the lock ${nameOf(this.name)}`
  }
}

Object.assign(Request.prototype, ticketQueue, { hasDiagnostics: false })

/**
 * The waiter of a request that waits. Its promise resolves to the request, even if the lock has been stolen by then: as
 * the standard requires, request() calls the callback all the same.
 */
class Pending extends Waiter {
  static value(request, _weight, abandoned) {
    request.abandoned = abandoned
    return request
  }

  /** Does nothing: updateKeepAlive() counts the requests. */
  count() {}

  end() {
    super.end()
    updateKeepAlive()
  }

  lose() {
    this.resolve(this.lock)
  }
}

/**
 * Requests the lock `name`. Returns a promise for the Request that holds the lock. With `ifAvailable` it returns
 * undefined if the lock is not available.
 */
function enter(name, wish) {
  checkStack()
  const { ifAvailable, mode, steal, priority, timeout } = wish
  // A request that may not wait never enters the queue, because other requests would wait behind it.
  const isNow = ifAvailable || timeout === 0
  const manner = steal ? manners.steal : isNow ? manners.ifAvailable : manners.wait
  const how = mode | (manner << requestModes.bits)
  const answer =
    priority === 0
      ? native.lockManager.request(name, how)
      : native.lockManager.request(name, how, priority)
  if (answer === notGranted) {
    if (ifAvailable) return undefined
    return Promise.reject(new Request(name, mode, released).timeoutError(0))
  }
  const ticket = answer >> answers.bits
  const what = answer & ((1 << answers.bits) - 1)
  const request = new Request(name, mode, ticket)
  updateKeepAlive()
  if (what === answers.waiting) return wait(request, Pending, 1, wish, undefined, ticket)
  tickets.keep(ticket, request)
  if (steal) request.dispatch(native.eventLoop.completions())
  return Promise.resolve(Pending.value(request, 1, what === answers.grantedAbandoned))
}

/** Requests the lock and calls `callback` with it. Resolves to the result of `callback`. */
function request(name, wish, callback) {
  const held = enter(name, wish)
  return held === undefined
    ? done.then(() => callback(null))
    : held.then((request) => call(request, callback, wish.signal))
}

/** Resolves to a Releaser, or with `ifAvailable` to undefined if the lock is not available. */
function acquire(name, wish) {
  return enter(name, wish)?.then(releaser) ?? Promise.resolve(undefined)
}

/** Calls the callback of `request`. The promise settles as the callback does, or rejects when the lock is stolen. */
function call(request, callback, signal) {
  if (signal !== undefined) checkInTime(() => request.release(true), signal)
  return new Promise((resolve, reject) => {
    request.onStolen = () => reject(request.stolenError())
    if (request.isStolen) request.onStolen()
    run(request, callback, resolve, reject)
  })
}

async function run(request, callback, resolve, reject) {
  try {
    const value = await callback(makeLock(request, request))
    request.release()
    resolve(value)
  } catch (error) {
    request.release()
    reject(error)
  }
}

/** Makes the releaser of `request`. Throws if the lock has been stolen already. */
function releaser(request) {
  if (request.isStolen) throw request.stolenError()
  const Releaser = () => request.release()
  return defineLazy(makeReleaser(Releaser, request.abandoned), 'signal', () => request.signal)
}

native.lockManager.start(require('node:worker_threads').threadId)

function query() {
  const snapshot = { held: [], pending: [] }
  const all = native.lockManager.query()
  for (let i = 0; i < all.length; i += 3) {
    const [name, state, thread] = all.slice(i, i + 3)
    const list = state & requestModes.held ? snapshot.held : snapshot.pending
    const clientId = `node-${process.pid}-${thread}`
    list.push({ name, mode: modeNames[state & ~requestModes.held], clientId })
  }
  return snapshot
}

module.exports = { acquire, query, request }
