'use strict'
// Concurrent calls for one key share one execution and its result: Go's singleflight.
//
//   do(key)      joins the flight of the key, or begins one
//   settled      every caller that still waits settles with it; the key has no flight
//   give up      a caller leaves; the last one to leave aborts the execution's signal, and the key has no flight
//   forget(key)  the key has no flight; the callers of the old one still get its result
//
// Invariant: a flight in the map has at least one waiting caller, and its signal is not aborted.
const { abort, throwIfAborted } = require('../core/abort.js')
const { lockError } = require('../core/errors.js')
const { checkKey, nameOf } = require('../core/keys.js')
const {
  checkCallback,
  checkObject,
  isObject,
  isOfEveryObject,
  readWait,
} = require('../core/options.js')
const { checkStack } = require('../core/stack.js')
const { UnobservedWaiter, wait } = require('../core/waiter.js')
const { receiverError } = require('../core/receiver.js')

/** Options of wider scopes, which a SingleFlight does not support. */
const reachOptions = new Set(['name', 'scope', 'directory', 'engine'])
const flightOptions = new Set(['signal', 'timeout'])

/** An execution and its waiting callers. */
class Flight {
  #controller = new AbortController()
  #callers = new Set()
  #key
  #onEnd

  /** The flight calls `onEnd` once: when the execution has settled, or when its last caller has left. */
  constructor(key, onEnd) {
    this.#key = key
    this.#onEnd = onEnd
  }

  /** Calls `work` in a later microtask. */
  start(work) {
    this.#run(work).then(
      (value) => this.#settle((caller) => caller.resolve(value)),
      (error) => this.#settle((caller) => caller.reject(error)),
    )
  }

  async #run(work) {
    const { signal } = this.#controller
    await null
    // By now every caller may have left.
    throwIfAborted(signal)
    return work(signal)
  }

  #settle(tell) {
    this.#onEnd()
    for (const caller of this.#callers) {
      this.#callers.delete(caller)
      caller.end()
      tell(caller)
    }
  }

  enqueue(caller) {
    this.#callers.add(caller)
  }

  leave(caller, reason) {
    this.#callers.delete(caller)
    caller.giveUp(reason)
    if (this.#callers.size > 0) return
    this.#onEnd()
    abort(this.#controller, reason)
  }

  timeoutError(timeout) {
    return timeoutError(this.#key, timeout)
  }
}

/** Returns the flights, by key, of `it`, the `this` of `method`. Throws unless it is a SingleFlight. */
let flightsOf

class SingleFlight {
  #flights = new Map()

  static {
    flightsOf = (it, method) => {
      if (isObject(it) && #flights in it) return it.#flights
      throw receiverError({ class: 'SingleFlight' }, method, it)
    }
  }

  constructor(options) {
    if (options !== undefined) checkReach(options)
  }

  async do(key, work, options = {}) {
    const flights = flightsOf(this, 'do')
    checkKey(key)
    checkCallback(work)
    checkObject(options)
    const limits = readWait(options, flightOptions)
    throwIfAborted(limits.signal)
    if (limits.timeout === 0) throw timeoutError(key, 0)
    // A flight in the map must have begun, and have its caller.
    checkStack()
    return wait(flightOf(flights, key, work), UnobservedWaiter, 1, limits)
  }

  forget(key) {
    const flights = flightsOf(this, 'forget')
    checkKey(key)
    return flights.delete(key)
  }

  get size() {
    return flightsOf(this, 'size').size
  }
}

/** Returns the flight of `key`. Begins it with `work` if there is none. */
function flightOf(flights, key, work) {
  const known = flights.get(key)
  if (known !== undefined) return known
  const flight = new Flight(key, () => {
    if (flights.get(key) === flight) flights.delete(key)
  })
  flights.set(key, flight)
  flight.start(work)
  return flight
}

function checkReach(options) {
  // The checks of lock constructors would suggest options that this class refuses, too.
  checkObject(options)
  for (const name in options) {
    if (reachOptions.has(name) || isOfEveryObject(options, name)) continue
    throw new TypeError('SingleFlight takes no options: give timeout and signal to do()')
  }
  const { readLockOptions } = require('../options/lock_options.js')
  // The scope is refused anyway, so do not first demand the `name` that it needs.
  const asked = options.scope === undefined ? options : { name: 'any', ...options }
  const settings = readLockOptions(asked, 0, reachOptions)
  settings.scopes?.checkReach({ class: 'SingleFlight' }, settings)
}

function timeoutError(key, timeout) {
  const message = `SingleFlight: key ${nameOf(key)} had no result within ${Math.round(timeout)} ms`
  return lockError('ERR_LOCK_TIMEOUT', message)
}

module.exports = { SingleFlight }
