'use strict'
const cluster = require('node:cluster')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const openStore = require('./store')
const { serveStore } = require('./store/remote.js')

/**
 * The shop as a cluster: several processes on one port, and one database, which lives in the process that
 * starts them. `killEvery` ms one of them is killed with SIGKILL, in the middle of whatever it does, and
 * another one takes its place.
 *
 * @param {object} options
 * @param {string} options.lock a name of locks/processes.js
 * @param {number} options.tickets how many the event has
 * @param {number} options.processes
 * @param {number} [options.killEvery] milliseconds; never, if left out
 * @param {string} [options.databaseUrl] of a PostgreSQL; without it SQLite is used
 */
module.exports = async function startProcesses({
  lock,
  tickets,
  processes,
  killEvery,
  databaseUrl,
}) {
  const store = await openStore({ tickets, databaseUrl })
  // The locks of scope host lie there, and go with the shop.
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'ticket-shop-locks-'))
  const listening = new Set()
  let port = 0
  let kills = 0
  let isClosing = false
  let failure = null

  // They accept connections themselves: one that is on its way to a process through this one, when that
  // dies, would wait for ever.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({
    ...{ exec: path.join(__dirname, 'process.js'), args: [], execArgv: [] },
    serialization: 'advanced',
  })

  /** Resolves when it listens. */
  function start() {
    const worker = cluster.fork({ SHOP_LOCK: lock, BOXOFFICE_DIRECTORY: directory })
    serveStore(store, worker.process)
    worker.on('exit', (code, signal) => {
      listening.delete(worker)
      if (isClosing) return
      if (signal !== 'SIGKILL') failure ??= new Error(`a shop ended with ${signal ?? code}`)
      start().catch(fail)
    })
    return new Promise((resolve, reject) => {
      worker.once('listening', (address) => {
        port = address.port
        listening.add(worker)
        resolve()
      })
      worker.once('exit', () => (isClosing ? resolve() : reject(failure)))
    })
  }

  function fail(error) {
    failure ??= error
  }

  /** Any one of those who serve, but not the last. */
  function killOne() {
    const all = [...listening]
    if (all.length < 2) return
    const victim = all[Math.floor(Math.random() * all.length)]
    listening.delete(victim)
    victim.process.kill('SIGKILL')
    kills++
  }

  async function close() {
    isClosing = true
    clearInterval(killer)
    const workers = Object.values(cluster.workers)
    await Promise.all(
      workers.map((worker) => {
        const gone = new Promise((resolve) => worker.once('exit', resolve))
        worker.process.kill('SIGKILL')
        return gone
      }),
    )
    await store.close()
    fs.rmSync(directory, { recursive: true, force: true })
  }

  let killer
  try {
    await Promise.all(Array.from({ length: processes }, start))
  } catch (error) {
    await close()
    throw error
  }
  if (killEvery !== undefined) killer = setInterval(killOne, killEvery)
  return {
    url: `http://127.0.0.1:${port}`,
    get kills() {
      return kills
    },
    get failure() {
      return failure
    },
    summary: store.summary,
    close,
  }
}
