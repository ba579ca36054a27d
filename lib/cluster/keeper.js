'use strict'
// Keeps an engine's session alive by a separate thread: see keeper_thread.js and renewal.js. The thread starts with the
// first lock, from the text that its files had when the engine was made.
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { Worker } = require('node:worker_threads')
const { checkModule } = require('../addon/bundle_advice.js')
const { Claims } = require('./claims.js')
const { readUntil, safely, writeUntil } = require('./clock.js')
const { unpack } = require('./errors.js')
const { addonFile, textsOf } = require('./thread_files.js')

const main = checkModule(join(__dirname, 'keeper_thread.js'))

/** Returns the text of all files that the thread runs for the keeper `spec` of a driver, and of the loader. */
const readFiles = (spec) => ({
  loader: readFileSync(join(__dirname, 'thread_loader.js'), 'utf8'),
  // The module of a driver outside this package is only loaded when the thread starts.
  texts: textsOf(`${spec?.module}`, textsOf(main)),
})

/**
 * Starts the thread that renews sessions of `ttl` ms with the keeper `spec` of a driver. `claims` is the memory of
 * claims.
 */
function startThread({ module, data }, ttl, claims, { loader, texts }) {
  const workerData = { addon: addonFile(), main, texts, module, data, ttl, claims }
  // NODE_OPTIONS may make code given as text an ES module.
  const execArgv = ['--input-type=commonjs']
  return new Worker(loader, { eval: true, workerData, name: 'boxoffice keeper', execArgv })
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
  #spec
  #ttl
  #claim
  #onEnd
  #onTrouble
  #onUnused
  #clock
  #startThread
  #files
  #worker
  /** The claims that the thread confirms. */
  #claims
  /** Whether no session has been opened yet. */
  #isNew = true
  /** The functions that settle the promise of open(), by the id of the session. */
  #opening = new Map()
  /** Why the thread's connection is down or its last renewal failed, while it retries. */
  trouble

  /**
   * Calls `onEnd(session id, error)` when an open session is over, `onTrouble()` when `trouble` changes, and
   * `onUnused(session id)` when a session has opened too late. `outside` is the last argument of Hub.
   */
  constructor(spec, { ttl, claim }, { onEnd, onTrouble, onUnused }, outside) {
    this.#spec = spec
    this.#ttl = ttl
    this.#claim = claim
    this.#onEnd = onEnd
    this.#onTrouble = onTrouble
    this.#onUnused = onUnused
    this.#clock = outside.clock
    this.#startThread = outside.startThread ?? startThread
    this.#files = readFiles(spec)
  }

  /**
   * Opens the session `id`, which replaces the last one, and resolves to it. Opens the first session by `openHere(id,
   * ttl)` if that is given, so that a program that ends before the first renewal need not load the client a second
   * time.
   */
  open(id, openHere) {
    const session = new Session(id, this.#clock)
    this.#worker ??= this.#start()
    const isHere = this.#isNew && openHere !== undefined && this.#ttl >= leastTtl
    this.#isNew = false
    return new Promise((resolve, reject) => {
      this.#opening.set(id, { resolve: () => resolve(session), reject })
      if (isHere) this.#openHere(session, openHere)
      else this.#worker.postMessage({ id, buffer: session.until.buffer })
    })
  }

  async #openHere({ id, until }, openHere) {
    const sent = this.#clock.now()
    this.#worker.postMessage({ id, isOpening: true })
    try {
      await openHere(id, this.#ttl)
    } catch (error) {
      this.#take(id)?.reject(error)
      return
    }
    const opening = this.#take(id)
    // The engine has been closed, or the thread has ended, meanwhile.
    if (opening === undefined) {
      // If the server cannot be told, the session expires.
      this.#onUnused(id).catch(() => {})
      return
    }
    writeUntil(until, sent + safely(this.#ttl))
    this.#worker.postMessage({ id, buffer: until.buffer, isOpen: true })
    opening.resolve()
  }

  /** Removes and returns the functions that settle open(), unless it has settled. */
  #take(id) {
    const opening = this.#opening.get(id)
    this.#opening.delete(id)
    return opening
  }

  /** Makes the thread confirm a grant: see add() of Claims. */
  confirmLater(...claim) {
    return this.#claims?.add(...claim)
  }

  /** Stops renewing the session. */
  forget(id) {
    this.#worker?.postMessage({ id })
  }

  #start() {
    const wake = () => worker.postMessage('claims')
    const claims = new Claims({ wake, clock: this.#clock, patience: this.#claim / 4 })
    const worker = this.#startThread(this.#spec, this.#ttl, claims.buffer, this.#files)
    this.#claims = claims
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
      if (error !== undefined) this.#onTrouble()
      return
    }
    const opening = this.#take(id)
    if (isOpen) opening?.resolve()
    else if (opening !== undefined) opening.reject(error)
    else this.#onEnd(id, error)
  }

  #failed(worker, error) {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.trouble = undefined
    this.#rejectAll(error)
    this.#onEnd(undefined, error)
  }

  #rejectAll(error) {
    const all = [...this.#opening.values()]
    this.#opening.clear()
    for (const { reject } of all) reject(error)
  }

  async close() {
    const worker = this.#worker
    if (worker === undefined) return
    this.#worker = undefined
    this.#rejectAll(new Error('the thread that renews has been told to end'))
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    worker.postMessage('end')
    await ended
  }
}

module.exports = { Keeper, startThread }
