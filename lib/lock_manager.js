'use strict'
// The lock manager of the Web Locks standard (https://w3c.github.io/web-locks/), for all threads of the
// process.
const { threadId } = require('node:worker_threads')
const { refuseDiagnostics } = require('./diagnostics/levels.js')
const { ManagerOver } = require('./engines/lock_manager.js')
const { HostManager } = require('./host_lock_manager.js')
const native = require('./load.js')
const { readLockOptions } = require('./lock_options.js')
const {
  checkRequest,
  modeNames,
  readAcquireRequest,
  readRequest,
} = require('./lock_request_options.js')
const { acquire, request } = require('./lock_requests.js')
const { checkCallback } = require('./options.js')
const { Lock } = require('./web_lock.js')

class LockManager {
  #isOne = true
  /** Of another scope; else undefined. */
  #over

  constructor(options = {}) {
    const { diagnostics, engine, host, name } = readLockOptions(options, 0)
    refuseDiagnostics(diagnostics, 'lock managers: ask query()')
    if (engine !== undefined) this.#over = new ManagerOver(engine, name)
    else if (host !== undefined) this.#over = new HostManager(host)
    else if (name !== undefined) throw new TypeError('all lock managers of a process are one')
  }

  /** (name, callback) or (name, options, callback). Whatever is wrong rejects. */
  request(name, second, ...rest) {
    try {
      this.#check()
      const text = `${name}`
      const wish = readRequest(rest.length > 0 ? second : undefined)
      const callback = rest.length > 0 ? rest[0] : second
      checkCallback(callback)
      checkRequest(text, wish)
      const { signal } = wish
      if (signal?.aborted) return Promise.reject(signal.reason)
      return this.#over?.request(text, wish, callback) ?? request(text, wish, callback)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  acquire(name, options) {
    this.#check()
    const text = `${name}`
    const wish = readAcquireRequest(options)
    checkRequest(text, wish)
    const { signal } = wish
    if (signal?.aborted) return Promise.reject(signal.reason)
    return this.#over?.acquire(text, wish) ?? acquire(text, wish)
  }

  async query() {
    this.#check()
    if (this.#over !== undefined) return this.#over.query(`node-${process.pid}-${threadId}`)
    const snapshot = { held: [], pending: [] }
    const all = native.lockManagerQuery()
    for (let i = 0; i < all.length; i += 3) {
      const [name, state, thread] = all.slice(i, i + 3)
      const list = state & 2 ? snapshot.held : snapshot.pending
      const clientId = `node-${process.pid}-${thread}`
      list.push({ name, mode: modeNames[state & 1], clientId })
    }
    return snapshot
  }

  #check() {
    if (!(#isOne in this)) throw new TypeError('Illegal invocation: this is no LockManager')
  }

  get [Symbol.toStringTag]() {
    return 'LockManager'
  }
}

const locks = new LockManager()

/** Puts `locks` where code for browsers looks for it. */
function installNavigatorLocks() {
  const shape = { configurable: true, enumerable: true, writable: true }
  if (globalThis.navigator === undefined) {
    Object.defineProperty(globalThis, 'navigator', { ...shape, value: {} })
  }
  Object.defineProperty(globalThis.navigator, 'locks', { ...shape, value: locks })
  return locks
}

module.exports = { installNavigatorLocks, Lock, LockManager, locks }
