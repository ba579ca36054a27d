'use strict'
// The thread that renews an engine's session, so that a blocked event loop loses no lease. It
// writes the end of the session's safety to memory that the event loop reads: see keeper.js.
const { setTimeout: after } = require('node:timers/promises')
const { parentPort, workerData } = require('node:worker_threads')
const { now, readUntil, safely, writeUntil } = require('./clock.js')
const { pack, reasonOf } = require('./errors.js')

const { module: path, data, ttl } = workerData

/** The connection: attempted again until it succeeds, then kept. */
let connecting
let connection
function connect() {
  connecting ??= makeConnection().catch((error) => {
    connecting = undefined
    throw error
  })
  return connecting
}

async function makeConnection() {
  connection = await require(path).connect(data, tell)
  return connection
}

/** Why the connection is down, or the last renewal failed. Both are retried. */
let trouble
function tell(error) {
  trouble = error
  parentPort.postMessage({ error: error && pack(error) })
}

function allWell() {
  if (trouble !== undefined) tell(undefined)
}

/** The session to renew, until another one replaces it. */
let current

async function keep({ id, buffer }) {
  current = id
  const until = new BigInt64Array(buffer)
  try {
    const keeper = await connect()
    const sent = now()
    await keeper.open(id, ttl)
    writeUntil(until, sent + safely(ttl))
    allWell()
    parentPort.postMessage({ id, isOpen: true })
    while (current === id) {
      await after(ttl / 3)
      if (current === id) await renew(keeper, id, until)
    }
  } catch (error) {
    writeUntil(until, 0)
    parentPort.postMessage({ id, isOpen: false, error: pack(error) })
  }
}

/** Retries until the session has been renewed once. Throws when the session is over. */
async function renew(keeper, id, until) {
  const end = readUntil(until)
  while (current === id && now() < end) {
    const sent = now()
    const answer = await Promise.race([tryToRenew(keeper, id), after(ttl / 3)])
    if (answer === false) throw new Error('the server has ended it')
    if (answer === true) {
      writeUntil(until, sent + safely(ttl))
      allWell()
      return
    }
  }
  const why = trouble === undefined ? '' : `: ${reasonOf(trouble)}`
  if (current === id) {
    throw new Error(`it could not be renewed in time${why}`, trouble && { cause: trouble })
  }
}

/** Whether the session existed and was renewed; undefined if the attempt failed. */
async function tryToRenew(keeper, id) {
  try {
    return await keeper.renew(id, ttl)
  } catch (error) {
    tell(error)
    await after(ttl / 20)
  }
}

async function end() {
  current = undefined
  await connection?.close()
  // Ends timers and connection attempts that are still under way.
  process.exit()
}

parentPort.on('message', (message) => {
  if (message === 'end') end()
  else keep(message)
})
