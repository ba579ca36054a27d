'use strict'
// Leases on a server that several machines share. This folder has the part common to all servers; a driver
// adds one kind of server. The server keeps, for each key:
//
//   capacity    the number of units: 1 for a mutex
//   holders     id, session, units, until, token
//   queue       waiting requests, first come first served: id, session, units
//   fence       the last token that was granted
//   rest        the time until which no request is granted, even if the last holder has left or died: the last grant
//               plus its `minHold`
//
// These are the invariants, even if any process dies at any moment:
//
//   1  The units of the holders are never more than the capacity.
//   2  A holder whose session is over, or whose `until` is past, no longer counts: the next command for the key
//      removes it, and the key's next grant is `abandoned`. Only the server's clock counts.
//   3  The head of the queue blocks the requests behind it. The server skips a request whose session is over, or has no
//      listening connection. A new request is never granted ahead of waiting ones.
//   4  A token is max(fence + 1, microseconds of the server's clock since 2024): tokens of a key increase even if
//      the server loses its memory of them. They are below 2 ** 51.
//   5  When a holder leaves, the server hands the units over in the same step. The next request holds the key for
//      `claim` milliseconds, and for `maxHold` once it has confirmed by confirm() or another enter().
//   6  After a grant with a `minHold` no request is granted until that time is over, even if the holder has left or
//      died. Only a holder that leaves `unused` ends it earlier.
//
// A session stands for one agent: one event loop. It is over for good when it has not been renewed for `ttl`
// milliseconds. One command renews it, and so all leases of the agent.
//
// engine.d.ts documents the methods of a driver: EngineDriver.
const { listen, reasonOf, throwIfAborted } = require('../core/abort.js')
const { checkType, isLockError, kindError } = require('../core/errors.js')
const { checkTime } = require('../core/hold_times.js')
const { checkKnown, checkObject, longestTimeout, readWait } = require('../core/options.js')
const { startError, unreadyError } = require('./errors.js')
const { Hub } = require('./hub.js')
const { inTime } = require('./patience.js')
const { longestStart } = require('./start.js')

/** Returns the hub of an engine. */
let hubOf

const methods = ['listen', 'enter', 'leave', 'end', 'close']

class Engine {
  #hub

  static {
    hubOf = (engine) => {
      if (engine instanceof Engine) return engine.#hub
      throw kindError(
        'engine must be what redis(client) or another function of an engine returns',
        engine,
      )
    }
  }

  /** `driver` is an EngineDriver, `outside` an argument of Hub. */
  constructor(driver, options = {}, outside) {
    for (const method of methods) {
      if (typeof driver?.[method] !== 'function') {
        throw new TypeError(`the driver of an engine must have a method ${method}`)
      }
    }
    checkType('the name of a driver', driver.name, 'string')
    checkType('keeper.module of a driver', driver.keeper?.module, 'string')
    this.#hub = new Hub(driver, readEngineOptions(options), outside)
  }

  async ready(options = {}) {
    checkObject(options)
    checkKnown(options, readyOptions)
    await ready(this.#hub, readWait(options))
  }

  close() {
    return this.#hub.close()
  }

  [Symbol.asyncDispose]() {
    return this.close()
  }

  /** By this a constructor recognizes an engine in place of options, and throws. */
  get [Symbol.toStringTag]() {
    return 'Engine'
  }
}

/**
 * Resolves when `hub` can grant a lock and its thread can renew the session. Rejects when an attempt to open one fails.
 */
async function ready(hub, { timeout = longestStart, signal }) {
  throwIfAborted(signal)
  const late = () => startError(hub.name, timeout, hub.trouble)
  const limits = { clock: hub.clock, isToStay: true }
  let stop
  try {
    const opening = new Promise((resolve, reject) => {
      const onAbort = () => reject(reasonOf(signal))
      const listening = signal && listen(signal, onAbort)
      stop = () => listening?.stop(onAbort)
      Promise.resolve(hub.open(true)).then(resolve, reject)
    })
    await inTime(opening, Math.min(timeout, longestTimeout), late, limits)
  } catch (error) {
    const isFinal = isLockError(error) || (signal?.aborted && error === reasonOf(signal))
    throw isFinal ? error : unreadyError(hub.name, error)
  } finally {
    stop?.()
  }
}

const leastTime = 100

const readyOptions = new Set(['timeout', 'signal'])

const engineOptions = new Set(['ttl', 'maxHold', 'answerTimeout'])

const timesOf = ({ ttl, maxHold, answerTimeout }) => ({ ttl, maxHold, answerTimeout })

function readEngineOptions(options) {
  checkObject(options)
  checkKnown(options, engineOptions)
  const { ttl = 10_000, maxHold = 60_000, answerTimeout = 5000 } = options
  const times = { ttl, maxHold, answerTimeout }
  for (const [name, time] of Object.entries(times)) {
    checkTime(name, time, leastTime)
    // Servers take only integers.
    times[name] = Math.floor(time)
  }
  if (maxHold < ttl) throw new RangeError(`maxHold must not be less than ttl, which is ${ttl} ms`)
  return { ...times, longestHold: longestTimeout }
}

module.exports = { Engine, engineOptions, hubOf, readEngineOptions, timesOf }
