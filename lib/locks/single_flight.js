'use strict'
// Concurrent calls for one key share one execution and its result: Go's singleflight.
//
//   do(key)      the key has no flight: begins one; else joins the one it has
//   it settles   every caller that still waits settles alike; the key has no flight
//   give up      a caller leaves; the last one to leave aborts the execution's signal, and the key has no flight
//   forget(key)  the key has no flight; the callers keep theirs
//
// Invariant: a flight of the map has a caller that waits, and its signal is not aborted.
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
const { UnobservedWaiter, wait } = require('../core/waiter.js')
const { receiverError } = require('../core/receiver.js')

/** Options that would extend its scope beyond the thread, which is not supported. */
const reachOptions = new Set(['name', 'scope', 'directory', 'engine'])
const flightOptions = new Set(['signal', 'timeout'])

function readLimits(options = {}) {
  checkObject(options)
  return readWait(options, flightOptions)
}

/** An execution and its waiting callers. */
class Flight {
  #controller = new AbortController()
  #callers = new Set()
  #key
  #onEnd

  /** `onEnd` is called once: when the execution has settled, or its last caller has left. */
  constructor(key, onEnd) {
    this.#key = key
    this.#onEnd = onEnd
  }

  /** Always returns before it calls `work`. */
  start(work) {
    this.#run(work).then(
      (value) => this.#settle((caller) => caller.resolve(value)),
      (error) => this.#settle((caller) => caller.reject(error)),
    )
  }

  async #run(work) {
    const { signal } = this.#controller
    await null
    // Every caller may have left meanwhile.
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

/** The flights by key of `it`, the `this` of `method`. Throws for any other receiver. */
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

  async do(key, work, options) {
    const flights = flightsOf(this, 'do')
    checkKey(key)
    checkCallback(work)
    const limits = readLimits(options)
    throwIfAborted(limits.signal)
    if (limits.timeout === 0) throw timeoutError(key, 0)
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

/** The flight that a call for `key` joins or begins. */
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
  // Errors of the constructors of locks would list options that it refuses as well.
  checkObject(options)
  for (const name in options) {
    if (reachOptions.has(name) || isOfEveryObject(options, name)) continue
    throw new TypeError('SingleFlight takes no options: give timeout and signal to do()')
  }
  const { readLockOptions } = require('../options/lock_options.js')
  // There is no use to ask for the name that a lock of that scope needs.
  const asked = options.scope === undefined ? options : { name: 'any', ...options }
  const settings = readLockOptions(asked, 0, reachOptions)
  settings.scopes?.checkReach({ class: 'SingleFlight' }, settings)
}

function timeoutError(key, timeout) {
  const message = `SingleFlight: key ${nameOf(key)} had no result within ${Math.round(timeout)} ms`
  return lockError('ERR_LOCK_TIMEOUT', message)
}

module.exports = { SingleFlight }
