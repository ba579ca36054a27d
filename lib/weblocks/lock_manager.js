'use strict'
// The lock manager of the Web Locks standard (https://w3c.github.io/web-locks/), for all threads of the
// process.
const { reasonOf } = require('../core/abort.js')
const { refuseDiagnostics } = require('../diagnostics/levels.js')
const { readLockOptions } = require('../options/lock_options.js')
const { checkRequest, readAcquireRequest, readRequest } = require('./request_options.js')
const { checkCallback, isObject } = require('../core/options.js')
const { receiverError } = require('../core/receiver.js')
const { Lock } = require('./lock.js')

/** Options of the constructor, also those that it rejects with a reason. */
const managerOptions = new Set([
  'name',
  'scope',
  'directory',
  'capacity',
  'engine',
  'maxHold',
  'minHold',
  'diagnostics',
  'warnAfter',
])

const clientOfThread = () => `node-${process.pid}-${require('node:worker_threads').threadId}`

/** Throws unless `it`, the `this` of `method`, is a lock manager. */
let check
/** Returns the implementation of `it`, a LockManager, for its scope. */
let load

/** Marks `locks`, which loads the addon at its first use, because importing the package must not need the addon. */
const atFirstUse = {}

class LockManager {
  /** The implementation for its scope. Undefined for `locks` before its first use. */
  #over

  static {
    check = (it, method) => {
      if (!(isObject(it) && #over in it)) throw receiverError({ class: 'LockManager' }, method, it)
    }
    load = (it) => {
      it.#over ??= require('./lock_requests.js')
      return it.#over
    }
  }

  constructor(options = {}) {
    const { diagnostics, engine, host, name, times } = readLockOptions(options, 0, managerOptions)
    refuseDiagnostics(diagnostics, 'lock managers: ask query()')
    // The first lock manager of a scope loads its code.
    if (engine !== undefined) {
      const { EngineManager } = require('./engine_manager.js')
      this.#over = new EngineManager(engine, name, times)
    } else if (host !== undefined) {
      const { HostManager } = require('./host_manager.js')
      this.#over = new HostManager(host, times)
    } else if (name !== undefined) {
      throw new TypeError(
        "a process has one LockManager: leave name out, or give scope 'host' or an engine",
      )
    } else if (options !== atFirstUse) load(this)
  }

  /** (name, callback) or (name, options, callback). Every error rejects. */
  request(name, second, ...rest) {
    try {
      check(this, 'request')
      const text = `${name}`
      const wish = readRequest(rest.length > 0 ? second : undefined)
      const callback = rest.length > 0 ? rest[0] : second
      checkCallback(callback)
      checkRequest(text, wish)
      const { signal } = wish
      if (signal?.aborted) return Promise.reject(reasonOf(signal))
      return load(this).request(text, wish, callback)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  acquire(name, options) {
    check(this, 'acquire')
    if (name === undefined)
      throw new TypeError('the name is missing: acquire() takes (name, options)')
    const text = `${name}`
    const wish = readAcquireRequest(options)
    checkRequest(text, wish)
    const { signal } = wish
    if (signal?.aborted) return Promise.reject(reasonOf(signal))
    return load(this).acquire(text, wish)
  }

  async query() {
    check(this, 'query')
    return load(this).query(clientOfThread())
  }

  get [Symbol.toStringTag]() {
    return 'LockManager'
  }
}

const locks = new LockManager(atFirstUse)

/** Makes `locks` the navigator.locks of this thread. */
function installNavigatorLocks() {
  load(locks)
  const shape = { configurable: true, enumerable: true, writable: true }
  if (globalThis.navigator === undefined) {
    Object.defineProperty(globalThis, 'navigator', { __proto__: null, ...shape, value: {} })
  }
  Object.defineProperty(globalThis.navigator, 'locks', { __proto__: null, ...shape, value: locks })
  return locks
}

module.exports = { installNavigatorLocks, Lock, LockManager, locks }
