'use strict'
// Leases in a system that several machines share. What all of them need is in this folder; what is peculiar to
// one of them is its driver. A driver answers for a server that keeps, for each key:
//
//   capacity    how many units there are: 1 for a mutex
//   holders     id, session, units, until, token
//   queue       waiting requests, first come first served: id, session, units
//   fence       the last token that was given
//   rest        until when no request is let in, even if the last holder has left or died: the time of the last grant
//               and its `minHold`
//
// and these are its invariants, whatever process dies at whatever moment:
//
//   1  The units of the holders are never more than the capacity.
//   2  A holder whose session is over, or whose `until` is past, is none any more: the next command that looks takes it
//      out, and the next grant of the key says `abandoned`. Only the server's clock counts.
//   3  The head of the queue blocks the requests behind it. A request whose session is over, or has no connection that
//      listens, is passed over. No request gets in before the ones that wait.
//   4  A token is max(fence + 1, microseconds of the server's clock since 2024): tokens of a key increase even if
//      the server loses its memory of them. They are below 2 ** 51.
//   5  A holder that leaves hands over inside the server, in the same step: the next one holds it for `claim`
//      milliseconds, and as long as `maxHold` once it has confirmed that by confirm() or another enter().
//
//   6  Between a grant with a `minHold` and the end of that time no request is let in, even if the holder has left or
//      died. Only a holder that leaves `unused` ends it before.
//
// A session stands for one agent: one event loop. It is over when it has not been renewed for `ttl` milliseconds, and
// cannot be brought back. So one command renews all leases of the agent.
//
//
// What a driver is, method by method, is in engine.d.ts: EngineDriver.
const { checkKnown, checkObject, longestTimeout } = require('../core/options.js')
const { Hub } = require('./hub.js')

/** The hub of an engine. */
let hubOf

const methods = ['listen', 'enter', 'leave', 'end', 'close']

class Engine {
  #hub

  static {
    hubOf = (engine) => {
      if (engine instanceof Engine) return engine.#hub
      throw new TypeError('engine must be an engine, such as redis(client) makes one')
    }
  }

  /** `driver` as above. */
  constructor(driver, options = {}) {
    checkObject(driver)
    for (const method of methods) {
      if (typeof driver[method] !== 'function') {
        throw new TypeError(`the driver of an engine must have a method ${method}`)
      }
    }
    this.#hub = new Hub(driver, readEngineOptions(options))
  }

  close() {
    return this.#hub.close()
  }

  [Symbol.asyncDispose]() {
    return this.close()
  }
}

const leastTime = 100

/** What all engines take. */
const engineOptions = new Set(['ttl', 'maxHold', 'answerTimeout'])

/** The part of `options` that is for all engines, in milliseconds. */
const timesOf = ({ ttl, maxHold, answerTimeout }) => ({ ttl, maxHold, answerTimeout })

function readEngineOptions(options) {
  checkObject(options)
  checkKnown(options, engineOptions)
  const { ttl = 10_000, maxHold = 60_000, answerTimeout = 5000 } = options
  const times = { ttl, maxHold, answerTimeout }
  for (const [name, time] of Object.entries(times)) {
    if (typeof time !== 'number') throw new TypeError(`${name} must be a number of milliseconds`)
    if (!(time >= leastTime && time <= longestTimeout)) {
      throw new RangeError(`${name} must be from ${leastTime} ms to 2 ** 31 - 1 ms, not ${time}`)
    }
  }
  if (maxHold < ttl) throw new RangeError(`maxHold must not be less than ttl, which is ${ttl} ms`)
  // Servers take whole numbers.
  const whole = Object.entries(times).map(([name, time]) => [name, Math.floor(time)])
  return { ...Object.fromEntries(whole), longestHold: longestTimeout }
}

module.exports = { Engine, engineOptions, hubOf, readEngineOptions, timesOf }
