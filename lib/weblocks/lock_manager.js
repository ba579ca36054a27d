'use strict'
// The lock manager of the Web Locks standard (https://w3c.github.io/web-locks/), for all threads of the
// process.
const { refuseDiagnostics } = require('../diagnostics/levels.js')
const { readLockOptions } = require('../lock_options.js')
const { checkRequest, readAcquireRequest, readRequest } = require('./request_options.js')
const { checkCallback } = require('../core/options.js')
const { isObject, receiverError } = require('../locks/receiver.js')
const { Lock } = require('./lock.js')

// Loaded when a lock manager of that scope is used.
let lockRequests
const ofProcess = () => {
  lockRequests ??= require('./lock_requests.js')
  return lockRequests
}
const hostManager = (host, times) =>
  new (require('../host/lock_manager.js').HostManager)(host, times)
const managerOver = (engine, name, times) =>
  new (require('../cluster/lock_manager.js').ManagerOver)(engine, name, times)

const clientOfThread = () => `node-${process.pid}-${require('node:worker_threads').threadId}`

/** Throws unless `it`, the `this` of `method`, is a lock manager. */
let check

class LockManager {
  /** Of another scope; else undefined. */
  #over

  static {
    check = (it, method) => {
      if (!(isObject(it) && #over in it)) throw receiverError({ class: 'LockManager' }, method, it)
    }
  }

  constructor(options = {}) {
    const { diagnostics, engine, host, name, times } = readLockOptions(options, 0)
    refuseDiagnostics(diagnostics, 'lock managers: ask query()')
    if (engine !== undefined) this.#over = managerOver(engine, name, times)
    else if (host !== undefined) this.#over = hostManager(host, times)
    else if (name !== undefined) throw new TypeError('all lock managers of a process are one')
  }

  /** (name, callback) or (name, options, callback). Whatever is wrong rejects. */
  request(name, second, ...rest) {
    try {
      check(this, 'request')
      const text = `${name}`
      const wish = readRequest(rest.length > 0 ? second : undefined)
      const callback = rest.length > 0 ? rest[0] : second
      checkCallback(callback)
      checkRequest(text, wish)
      const { signal } = wish
      if (signal?.aborted) return Promise.reject(signal.reason)
      return this.#over?.request(text, wish, callback) ?? ofProcess().request(text, wish, callback)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  acquire(name, options) {
    check(this, 'acquire')
    const text = `${name}`
    const wish = readAcquireRequest(options)
    checkRequest(text, wish)
    const { signal } = wish
    if (signal?.aborted) return Promise.reject(signal.reason)
    return this.#over?.acquire(text, wish) ?? ofProcess().acquire(text, wish)
  }

  async query() {
    check(this, 'query')
    if (this.#over !== undefined) return this.#over.query(clientOfThread())
    return ofProcess().query()
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
