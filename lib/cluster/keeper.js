'use strict'
// Keeps an engine's session alive by a dedicated thread: see keeper_thread.js.
const { join } = require('node:path')
const { Worker } = require('node:worker_threads')
const { checkModule } = require('../addon/bundle_advice.js')
const { now, readUntil } = require('./clock.js')
const { unpack } = require('./errors.js')

const file = checkModule(join(__dirname, 'keeper_thread.js'))

class Session {
  constructor(id) {
    this.id = id
    this.isOver = false
    /** The session's leases, by id. */
    this.leases = new Map()
    this.last = 0
    this.until = new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT))
  }

  /** Until when the session is safe, by the clock of clock.js. */
  safeUntil() {
    return readUntil(this.until)
  }

  isGood() {
    return !this.isOver && now() < this.safeUntil()
  }

  nextId() {
    this.last++
    return `${this.id}-${this.last}`
  }
}

class Keeper {
  #spec
  #ttl
  #onEnd
  #worker
  /** By session: the promise of it. */
  #opening = new Map()
  /** Why the thread's connection is down or its last renewal failed, while it retries. */
  trouble

  /** Calls `onEnd(session id, error)` when an open session is over. */
  constructor(spec, ttl, onEnd) {
    this.#spec = spec
    this.#ttl = ttl
    this.#onEnd = onEnd
  }

  /** Resolves to the session `id`, which replaces the one before. */
  open(id) {
    const session = new Session(id)
    this.#worker ??= this.#start()
    return new Promise((resolve, reject) => {
      this.#opening.set(id, { resolve: () => resolve(session), reject })
      this.#worker.postMessage({ id, buffer: session.until.buffer })
    })
  }

  #start() {
    const { module, data } = this.#spec
    const worker = new Worker(file, {
      workerData: { module, data, ttl: this.#ttl },
      name: 'boxoffice keeper',
      execArgv: [],
    })
    worker.on('message', (message) => this.#heard(message))
    worker.on('error', (error) => this.#failed(worker, error))
    worker.on('exit', () => this.#failed(worker, new Error('the thread that renews has ended')))
    // Last, because a message listener keeps the process alive.
    worker.unref()
    return worker
  }

  #heard({ id, isOpen, error: packed }) {
    const error = packed && unpack(packed)
    if (id === undefined) {
      this.trouble = error
      return
    }
    const opening = this.#opening.get(id)
    this.#opening.delete(id)
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

module.exports = { Keeper }
