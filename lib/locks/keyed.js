'use strict'
// The base of all keyed locks.
const { localKeyMap } = require('../core/key_map.js')
const { checkMayBlock, isObject, readSyncWait } = require('../core/options.js')
const platform = require('../core/platform.js')
const { completed } = require('../core/wait_defaults.js')
const { closedKeyed } = require('./closed_keyed.js')
const { lockOptionsWithDefaults, readLockOptions } = require('../options/lock_options.js')
const { isOfKind, keyedMark, receiverError } = require('../core/receiver.js')

/** The kind of all keyed locks. */
const keyed = { class: 'Keyed', instance: 'a keyed lock' }

/** Returns the key map for a call of `method` on `it`. Throws unless `it` is of that kind. */
let mapOf
/** As mapOf(), for a method that blocks this thread. Throws on the main thread. */
let blockingMapOf
/** Returns the error that cancel() of `it` rejects with. Throws unless `it` is of that kind. */
let cancelErrorOf
/** Closes `it`. */
let close

/** Returns the `options` of a wait completed by the defaults of `it`. */
let withDefaults

/** Returns the limits of a wait of `it` that blocks this thread. */
const blockingLimits = (it, options) => readSyncWait(withDefaults(it, options))

/** Opens the key map that `settings` describe, for locks of `kind` that begin with `value`. */
function openKeyMap(kind, value, settings) {
  const { scopes } = settings
  return scopes === undefined
    ? localKeyMap(kind, value, settings)
    : scopes.openKeyMap(kind, value, settings)
}

class Keyed {
  #map
  #kind
  #cancelError
  #mayBlock
  #defaults

  static {
    withDefaults = (it, options) => completed(options, it.#defaults)
    mapOf = (it, kind, method) => {
      try {
        if (it.#kind === kind) return it.#map
      } catch {
        // As in lib/locks/single.js.
        throw receiverError(kind, method, it)
      }
      if (!isOfKind(it.#kind, kind)) throw receiverError(kind, method, it, it.#kind)
      const { lockFor } = it.#kind
      return lockFor === undefined ? it.#map : lockFor(method)
    }
    close = (it) => {
      if (it.#kind.isClosed) return
      it.#kind = closedKeyed(it.#kind, it.#map)
    }
    cancelErrorOf = (it, kind, method) => {
      mapOf(it, kind, method)
      return it.#cancelError
    }
    blockingMapOf = (it, kind, method) => {
      const map = mapOf(it, kind, method)
      checkMayBlock(it.#mayBlock, method)
      return map
    }
  }

  constructor(kind, options, value) {
    const settings = readLockOptions(options, 0, kind.known ?? lockOptionsWithDefaults)
    this.#map = openKeyMap(kind, value, settings)
    this.#map.keepFor(this)
    this.#kind = settings.isReentrant ? platform.reentrantKind(kind, this.#map) : kind
    this.#cancelError = settings.cancelError
    this.#mayBlock = settings.mayBlock
    this.#defaults = settings.defaults
  }

  [platform.inspecting](_depth, options, inspect) {
    // `this` is the prototype of a class.
    if (!(isObject(this) && #map in this)) return this
    const map = this.#map
    return platform.inspected(this, map, () => ({ size: map.size }), options, inspect)
  }

  isLocked(key) {
    return mapOf(this, keyed, 'isLocked').look(key, (lock) => lock.isLocked(), false)
  }

  cancel(key, reason = cancelErrorOf(this, keyed, 'cancel')) {
    mapOf(this, keyed, 'cancel').find(key)?.cancel(reason)
  }

  cancelAll(reason = cancelErrorOf(this, keyed, 'cancelAll')) {
    for (const lock of mapOf(this, keyed, 'cancelAll').busy()) lock.cancel(reason)
  }

  get size() {
    return mapOf(this, keyed, 'size').size
  }

  keys() {
    return mapOf(this, keyed, 'keys').keys().values()
  }

  snapshot() {
    return mapOf(this, keyed, 'snapshot').snapshot()
  }

  async close() {
    const map = mapOf(this, keyed, 'close')
    close(this)
    await map.onIdle()
  }

  async onIdle() {
    await mapOf(this, keyed, 'onIdle').onIdle()
  }
}

Keyed.prototype[keyedMark] = true

module.exports = { blockingMapOf, blockingLimits, Keyed, keyed, mapOf, withDefaults }
