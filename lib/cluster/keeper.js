'use strict'
// Keeps an engine's session alive by a separate thread: see keeper_thread.js and renewal.js. The thread starts with the
// first lock, from the text that its files had when the engine was made.
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { Worker } = require('node:worker_threads')
const { checkModule } = require('../addon/bundle_advice.js')
const { warn } = require('../core/warn.js')
const { Claims } = require('./claims.js')
const { readUntil, safely, writeUntil } = require('./clock.js')
const { unpack } = require('./errors.js')
const { addonFile, textsOf } = require('./thread_files.js')

const main = checkModule(join(__dirname, 'keeper_thread.js'))

/** Returns the text of all files that the thread runs for the keeper `spec` of a driver, and of the loader. */
const readFiles = (spec) => ({
  loader: readFileSync(join(__dirname, 'thread_loader.js'), 'utf8'),
  // The module of a driver outside this package is only loaded when the thread starts.
  texts: textsOf(spec.module, textsOf(main)),
})

/** More renewing threads than this are probably of engines that are made for each request, and never closed. */
const mostThreads = 10
/** How many renewing threads this thread has. */
let running = 0

const manyEngines =
  `more than ${mostThreads} engines are open in this thread, and each has a thread and connections of its own: ` +
  'make an engine once, not for each request, and close() one that is no longer used'

/**
 * Starts the thread that renews sessions of `ttl` ms with the keeper `spec` of a driver. `claims` is the memory of
 * claims.
 */
function startThread({ module, data }, ttl, claims, { loader, texts }) {
  const workerData = { addon: addonFile(), main, texts, module, data, ttl, claims }
  // NODE_OPTIONS may make code given as text an ES module.
  const execArgv = ['--input-type=commonjs']
  const worker = new Worker(loader, { eval: true, workerData, name: 'boxoffice keeper', execArgv })
  worker.once('exit', () => running--)
  running++
  if (running > mostThreads) warn('BOXOFFICE_MANY_ENGINES', manyEngines)
  return worker
}

/**
 * The shortest ttl, in ms, for which the event loop may open the session: the renewing thread must start, load its
 * client and connect before the session ends, even on a busy machine.
 */
const leastTtl = 3000

class Session {
  #clock

  constructor(id, clock) {
    this.#clock = clock
    this.id = id
    this.isOver = false
    /** Whether an answer has shown that the server knows the session. */
    this.isKnown = false
    /** The session's leases, by id. */
    this.leases = new Map()
    this.last = 0
    this.until = new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT))
  }

  /** The time until which the session is safe, by its clock. */
  safeUntil() {
    return readUntil(this.until)
  }

  isGood(time = this.#clock.now()) {
    return !this.isOver && time < this.safeUntil()
  }

  nextId() {
    this.last++
    return `${this.id}-${this.last}`
  }
}

class Keeper {
  #hub
  #startThread
  #files
  #worker
  /** Whether no session has been opened yet. */
  #isNew = true
  /** The session that is being opened, and the functions that settle the promise of open(): { id, resolve, reject }. */
  #opening
  /** The claims that the thread confirms, once it has been started. */
  claims
  /** Why the thread's connection is down or its last renewal failed, while it retries. */
  trouble

  constructor(hub, start = startThread) {
    this.#hub = hub
    this.#startThread = start
    this.#files = readFiles(hub.driver.keeper)
  }

  /**
   * Opens the session `id`, which replaces the last one, and resolves to it. Unless it `isTested`, the driver opens the
   * first session if it can, so that a program that ends before the first renewal need not load the client a second
   * time. Called again only when the promise has settled.
   */
  open(id, isTested) {
    const { clock, driver, settings } = this.#hub
    const session = new Session(id, clock)
    this.#worker ??= this.#start()
    const mayBeHere = this.#isNew && !isTested && settings.ttl >= leastTtl
    this.#isNew = false
    return new Promise((resolve, reject) => {
      this.#opening = { id, resolve: () => resolve(session), reject }
      if (mayBeHere && driver.open !== undefined) this.#openHere(session)
      else this.#worker.postMessage({ id, buffer: session.until.buffer })
    })
  }

  async #openHere({ id, until }) {
    const { clock, driver, settings } = this.#hub
    const sent = clock.now()
    this.#worker.postMessage({ id, isOpening: true })
    try {
      await driver.open(id, settings.ttl)
      if (this.#opening?.id === id) {
        writeUntil(until, sent + safely(settings.ttl))
        this.#worker.postMessage({ id, buffer: until.buffer, isOpen: true })
        this.#take(id).resolve()
      } else {
        // The engine has been closed, or the thread has ended, meanwhile.
        await driver.end(id)
      }
    } catch (error) {
      // If the server cannot be told of the end, the session expires.
      this.#take(id)?.reject(error)
    }
  }

  /** Removes and returns the functions that settle open(id), unless it has settled. */
  #take(id = this.#opening?.id) {
    const opening = this.#opening
    if (opening?.id !== id) return undefined
    this.#opening = undefined
    return opening
  }

  /** Stops renewing the session. */
  forget(id) {
    this.#worker?.postMessage({ id })
  }

  #start() {
    const wake = () => worker.postMessage('claims')
    const { claim, clock, driver, settings } = this.#hub
    const claims = new Claims({ wake, clock, patience: claim / 4 })
    const worker = this.#startThread(driver.keeper, settings.ttl, claims.buffer, this.#files)
    this.claims = claims
    worker.on('message', (message) => this.#onMessage(message, claims))
    worker.on('error', (error) => this.#failed(worker, error))
    worker.on('exit', () => this.#failed(worker, new Error('the thread that renews has ended')))
    // Call this last, because adding a message listener makes the worker keep the process alive.
    worker.unref()
    return worker
  }

  #onMessage({ id, isOpen, claim, isLate, answer, error: packed }, claims) {
    if (isLate) return claims.failed(claim)
    if (claim !== undefined) return claims.answered(claim, answer)
    const error = packed && unpack(packed)
    if (id === undefined) {
      this.trouble = error
      if (error !== undefined) this.#hub.start.failed()
      return
    }
    const opening = this.#take(id)
    if (isOpen) opening?.resolve()
    else if (opening !== undefined) opening.reject(error)
    else this.#hub.sessionEnded(id, error)
  }

  #failed(worker, error) {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.trouble = undefined
    this.#take()?.reject(error)
    this.#hub.sessionEnded(undefined, error)
  }

  async close() {
    const worker = this.#worker
    if (worker === undefined) return
    this.#worker = undefined
    this.#take()?.reject(new Error('the thread that renews has been told to end'))
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    worker.postMessage('end')
    await ended
  }
}

module.exports = { Keeper, startThread }
