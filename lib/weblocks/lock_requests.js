'use strict'
// Requests of the lock manager (src/locks/lock_manager.h). A request has a ticket from its start until its release. The
// ticket stands for a waiter: for the promise while the request waits, then for the request itself, because its lock may
// be stolen.
const { reasonOf } = require('../core/abort.js')
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
const { makeLock } = require('./lock.js')

const { leaves, requestAnswers: answers, requestManners: manners, requestModes } = native.layout

// The ticket of a request that is over.
const released = -1
const lost = -2

const done = Promise.resolve()

/** Whether a request of this thread keeps the event loop alive. */
let isKeptAlive = false

/** Called when a request begins or ends. The event loop stays alive only for a lock that another thread could release. */
function updateKeepAlive() {
  const keeps = waitsForOthers()
  if (keeps === isKeptAlive) return
  isKeptAlive = keeps
  keepAlive.count(keeps ? +1 : -1)
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
    this.lossSignal = undefined
  }

  /** While the request holds its lock, it is the waiter of its ticket itself. */
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
      // Granted and stolen before this thread has read either completion.
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

  /** The result settles only this request. */
  answered() {}

  dispatch(count) {
    if (count > 0) takeCompletions(count)
  }

  /** `isUndelivered`: no caller has seen its grant, so the next one reports a death. */
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
    this.loss().abort(this.stolenError())
    this.onStolen?.()
  }

  /** Aborts when its lock is stolen. */
  get signal() {
    return this.loss().signal
  }

  /** Made late: very many requests may wait. */
  loss() {
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

/** The promise of a request that waits. */
class Pending extends Waiter {
  /** Does nothing: updateKeepAlive() counts the requests. */
  count() {}

  end() {
    super.end()
    updateKeepAlive()
  }
}

/** A waiter of request(), which calls the callback though the lock is stolen by now, as the standard requires. */
class Runner extends Pending {
  static value(request, _weight, abandoned) {
    request.abandoned = abandoned
    return request
  }

  lose() {
    this.resolve(this.lock)
  }
}

/** A waiter of acquire(). */
class Acquirer extends Pending {
  static value(request, _weight, abandoned) {
    return releaser(request, abandoned)
  }

  lose() {
    this.reject(this.lock.stolenError())
  }
}

/**
 * A promise for the result of a request for `name`, by waiters of class `Kind`. Undefined when the lock is not
 * available.
 */
function enter(name, wish, Kind, callback) {
  checkStack()
  const { ifAvailable, mode, signal, steal, priority, timeout } = wish
  // A request that may not wait is never queued, where it would keep others out.
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
  const request = new Request(name, mode, ticket, callback, signal)
  updateKeepAlive()
  if (what === answers.waiting) return wait(request, Kind, 1, wish, undefined, ticket)
  tickets.keep(ticket, request)
  if (steal) request.dispatch(native.eventLoop.completions())
  return Promise.resolve(Kind.value(request, 1, what === answers.grantedAbandoned))
}

/** A promise for the result of `callback` with the lock. */
function request(name, wish, callback) {
  const held = enter(name, wish, Runner, callback)
  return held === undefined ? done.then(() => callback(null)) : held.then(call)
}

/** A promise for a Releaser, or for undefined when the lock is not available. */
function acquire(name, wish) {
  return enter(name, wish, Acquirer) ?? Promise.resolve(undefined)
}

/** Calls `callback` with the lock of `request`. The promise settles as `callback` does, or rejects at a theft. */
function call(request) {
  const { callback, callerSignal: signal } = request
  try {
    if (signal?.aborted) throw reasonOf(signal)
  } catch (error) {
    // Aborted, or a signal that is no AbortSignal.
    request.release(true)
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
    value = await callback(makeLock(request, request))
  } catch (error) {
    request.release()
    reject(error)
    return
  }
  request.release()
  resolve(value)
}

function releaser(request, abandoned) {
  const Releaser = () => request.release()
  return defineLazy(makeReleaser(Releaser, abandoned), 'signal', () => request.signal)
}

native.lockManager.start(require('node:worker_threads').threadId)

/** The held locks and pending requests of all threads. */
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
