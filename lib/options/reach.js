'use strict'
// The classes that some scopes lack, and their replacements. docs/scopes.md has the full table.
const { lockError } = require('../core/errors.js')
const { nameOf } = require('../core/keys.js')

const places = {
  threads: 'for several threads',
  host: "at scope 'host'",
  engine: 'over an engine',
}

const notify = 'let the server notify its clients (Redis PUBLISH, PostgreSQL NOTIFY)'
const countOnServer = `count on the server, and ${notify}`
const recheck = 'a KeyedMutex there, and look into the cache again inside runExclusive()'
const pairs = 'a KeyedMutex there, and acquire both keys at once: acquire([left, right])'

const instead = {
  AutoResetEvent: { engine: notify },
  ManualResetEvent: { engine: notify },
  CountdownLatch: { engine: countOnServer },
  Barrier: { engine: countOnServer },
  ConditionVariable: { engine: notify },
  DiningPhilosophers: { host: `use ${pairs}`, engine: `use ${pairs}` },
  SingleFlight: { threads: `use ${recheck}`, host: `use ${recheck}`, engine: `use ${recheck}` },
}

function placeOf({ engine, host, name }) {
  if (engine !== undefined) return 'engine'
  if (host !== undefined) return 'host'
  return name === undefined ? 'thread' : 'threads'
}

/** Throws if the scope in `settings` lacks the class. */
function checkReach(className, settings) {
  const place = placeOf(settings)
  const advice = instead[className]?.[place]
  if (advice === undefined) return
  const title = settings.name === undefined ? className : `${className} ${nameOf(settings.name)}`
  throw lockError('ERR_LOCK_UNSUPPORTED', `${title}: not available ${places[place]}; ${advice}`)
}

module.exports = { checkReach }
