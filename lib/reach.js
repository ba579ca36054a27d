'use strict'
// The classes that some scopes do not have, and what to use there. docs/scopes.md has the table of all.
const { lockError } = require('./core/errors.js')
const { nameOf } = require('./core/keys.js')

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
  AutoResetEvent: {
    host: "use new Semaphore(0, { scope: 'host', name }): release() signals, and acquire() waits",
    engine: notify,
  },
  ManualResetEvent: {
    host: "use an RWLock of scope 'host': hold it to write until the event is set, and wait by runShared()",
    engine: notify,
  },
  CountdownLatch: {
    host: "use new Semaphore(0, { scope: 'host', name }): count down by release(), and wait by acquire(count)",
    engine: countOnServer,
  },
  Barrier: {
    host: 'let one process count the arrivals (process.send())',
    engine: countOnServer,
  },
  ConditionVariable: {
    host: "use new Semaphore(0, { scope: 'host', name }): release() wakes a process that waits by acquire()",
    engine: notify,
  },
  DiningPhilosophers: { host: `use ${pairs}`, engine: `use ${pairs}` },
  SingleFlight: { threads: `use ${recheck}`, host: `use ${recheck}`, engine: `use ${recheck}` },
}

function placeOf({ engine, host, name }) {
  if (engine !== undefined) return 'engine'
  if (host !== undefined) return 'host'
  return name === undefined ? 'thread' : 'threads'
}

/** Throws where the scope that `settings` ask for has no such class. */
function checkReach(className, settings) {
  const place = placeOf(settings)
  const advice = instead[className]?.[place]
  if (advice === undefined) return
  const title = settings.name === undefined ? className : `${className} ${nameOf(settings.name)}`
  throw lockError('ERR_LOCK_UNSUPPORTED', `${title}: not available ${places[place]}; ${advice}`)
}

module.exports = { checkReach }
