'use strict'
// Leases in a system that several machines share. What all of them need is in this folder; what is peculiar to
// one of them is its driver, which is one file. A driver answers for a server that keeps, for each key:
//
//   capacity    how many units there are: 1 for a mutex
//   holders     who has how many of them (id, session, units, until, token)
//   line        who waits for how many, first come first served (id, session, units)
//   fence       the last token that was given
//
// and these are its invariants, whoever dies at whatever moment:
//
//   1  The units of the holders are never more than the capacity.
//   2  A holder whose session is over, or whose `until` is past, is none any more: whoever looks takes it out,
//      and the next grant of the key says `abandoned`. Only the server's clock counts.
//   3  The head of the line blocks those behind it. One whose session is over, or that nobody listens for, is
//      passed over. Nobody gets in before those who wait.
//   4  A token is max(fence + 1, microseconds of the server's clock since 2024): tokens of a key increase even if
//      the server loses its memory of them. They are below 2 ** 51.
//   5  Whoever leaves hands over inside the server, in the same step: the next one holds it for `claim`
//      milliseconds, and as long as `maxHold` once it has confirmed that by confirm() or another enter().
//
// A session stands for one agent: one event loop. It is over when nobody has renewed it for `ttl` milliseconds,
// and nobody can bring it back. So one command renews all leases of the agent.
//
//   driver.name                        for messages: 'Redis'
//   driver.keeper                      { module, data }: what a worker thread renews the session with. It calls
//                                      require(module).connect(data, trouble), a promise for
//                                        open(session, ttl)    a promise; from now on there is this session
//                                        renew(session, ttl)   a promise for whether there still was
//                                        close()               a promise
//                                      `data` goes there by structured clone. connect() calls trouble(error) where it
//                                      does not reject but tries again, and trouble(undefined) once that has succeeded.
//   driver.listen(session, hear)       a promise, for when nothing will be missed: hear.granted(id, grant) when a place
//                                      in the line has become a grant, hear.wanted(key) when somebody waits for what
//                                      the session holds, hear.missed() when messages may have been lost,
//                                      hear.trouble(error) when it cannot connect and tries again by itself,
//                                      hear.trouble(undefined) when it has connected. Listens no more to the session
//                                      before. Must not keep the process alive.
//   driver.enter(request)              { session, key, id, units, capacity, wait, first, claim, maxHold }, one round trip.
//                                      Asks for units, confirms a grant, or looks after the line: the same id again
//                                      is the same request, granted once. Where it has no place yet and cannot be
//                                      granted at once it gets one at the end of the line; with `wait` false, none.
//                                      With `first`, which is of who holds one unit and asks for all others, and of nobody
//                                      else: at the head of the line, unless another one stands there who asked so.
//                                      A promise for one of
//                                        { state: 'held', token: bigint, wanted: boolean, abandoned: boolean }
//                                        { state: 'waiting', look: ms, clock: ms }   when those before it may be
//                                                                         gone: ask again; and the server's clock
//                                        { state: 'refused' }             with `wait` false only
//                                        { state: 'upgrading' }           with `first` only: another one is
//                                        { state: 'lost' }                there is no such session any more
//                                        { state: 'mismatch', capacity }  others use the key with another capacity
//   driver.confirm(request)            may be missing where `granted` never says what. The same request, one round trip. What it was granted is its as long as
//                                      `maxHold` from now on, unless the claim is over. It never gets anything
//                                      else by that, nor a place. A promise for
//                                        { state: 'held' or 'over', wanted: boolean }
//   driver.leave({ session, key, id, units, capacity, claim, keep, untold })   a promise, one round trip. The units are
//                                      free, or the place in the line. No matter if there is neither any more. With
//                                      `keep` above 0 that many units stay held. With `untold` nobody has heard of
//                                      `abandoned`, if that was the answer: the next grant says it again.
//   driver.end(session)                a promise: the session is over.
//   driver.close()                     a promise: closes the connections that the driver has made.
//
// A `grant` is { token: bigint, wanted: boolean, abandoned: boolean, until: ms }, where `until` is the end of the claim
// by the clock of the server that enter() has told of. Whoever gets it goes on at once, and confirms meanwhile; so a
// driver must give it only where the command to confirm is on its way by the next immediate, however long the event
// loop is blocked then. Where it is undefined, enter() is asked, and needs no confirm().
//
// A command that fails may have been carried out or not: it is repeated, until the session is over.
const { checkKnown, checkObject } = require('../core/options.js')
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
    if (!(time >= leastTime && time <= 2 ** 31 - 1)) {
      throw new RangeError(`${name} must be from ${leastTime} ms to 2 ** 31 - 1 ms, not ${time}`)
    }
  }
  if (maxHold < ttl) throw new RangeError(`maxHold must not be less than ttl, which is ${ttl} ms`)
  // Servers take whole numbers.
  const whole = Object.entries(times).map(([name, time]) => [name, Math.floor(time)])
  return Object.fromEntries(whole)
}

module.exports = { Engine, engineOptions, hubOf, readEngineOptions, timesOf }
