'use strict'
const { fork } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const openStore = require('./store')
const { serveStore } = require('./store/remote.js')

/**
 * The shop as several processes over one database, which lives in the process that starts them.
 *
 * @param {object} options
 * @param {string} options.lock a name of locks/index.js
 * @param {number} options.tickets how many the event has
 * @param {number} options.processes
 * @param {number} options.pause milliseconds that a purchase takes beside the database
 * @param {string} [options.databaseUrl] of a PostgreSQL; without it SQLite is used
 */
module.exports = async function startProcesses(options) {
  const { lock, tickets, processes, pause, databaseUrl } = options
  const store = await openStore({ tickets, databaseUrl })
  // The files of scope host, removed with the shop.
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'ticket-shop-locks-'))
  const env = { ...process.env, SHOP_LOCK: lock, SHOP_PAUSE: pause, BOXOFFICE_DIRECTORY: directory }
  const living = new Set()
  let killNext = false
  let kills = 0
  let failure

  async function start() {
    const child = fork(path.join(__dirname, 'process.js'), { env, serialization: 'advanced' })
    const shop = { child, exited: once(child, 'exit'), url: undefined }
    living.add(shop)
    // A click sends every query while it holds the user's lock.
    serveStore(store, child, () => {
      if (!killNext || living.size === 1) return
      killNext = false
      kills++
      living.delete(shop)
      child.kill('SIGKILL')
    })
    const listening = new Promise((resolve) => {
      child.on('message', ({ url }) => url && resolve(url))
    })
    shop.exited.then(([code, signal]) => {
      if (living.delete(shop)) failure ??= new Error(`a shop ended with ${signal ?? code}`)
    })
    shop.url = await Promise.race([
      listening,
      shop.exited.then(() => {
        throw failure
      }),
    ])
  }

  async function close() {
    const last = [...living]
    living.clear()
    for (const { child } of last) child.kill('SIGKILL')
    await Promise.all(last.map(({ exited }) => exited))
    await store.close()
    fs.rmSync(directory, { recursive: true, force: true })
  }

  try {
    await Promise.all(Array.from({ length: processes }, start))
  } catch (error) {
    await close()
    throw error
  }
  return {
    /** The address for the `count`th click: the processes take turns, as behind a load balancer. */
    url: (count) => [...living][count % living.size].url,
    /** Kills the next process that sends a query, except the last one. */
    killHolder() {
      killNext = true
    },
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
