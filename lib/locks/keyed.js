'use strict'
// The base of all keyed locks.
const { localKeyMap } = require('../core/key_map.js')
const { checkKey, titleOf } = require('../core/keys.js')
const { readSyncWait } = require('../core/options.js')
const platform = require('../core/platform.js')
const { lockOptionsWithDefaults, readLockOptions } = require('../options/lock_options.js')
const { keyedMark } = require('../core/receiver.js')
const { now, tryRun } = require('../core/run.js')
const { Base, cancelErrorOf, close, kindOf, look, mapOf, withMapDefaults } = require('./base.js')
const { Refusal } = require('./closed.js')

const keyed = { class: 'Keyed', instance: 'a keyed lock' }

const blockingLimits = (it, options) => readSyncWait(withMapDefaults(it, options))

class Keyed extends Base {
  constructor(kind, options, value) {
    const settings = readLockOptions(options, 0, kind.known ?? lockOptionsWithDefaults)
    const { scopes } = settings
    const map =
      scopes === undefined
        ? localKeyMap(kind, value, settings)
        : scopes.openKeyMap(kind, value, settings)
    super(settings.isReentrant ? platform.reentrantKind(kind, map) : kind, map, settings)
    map.keepFor(this)
  }

  [look](map) {
    return { size: map.size }
  }

  isLocked(key) {
    return mapOf(this, keyed, 'isLocked').look(key, (lock) => lock.isLocked(), false)
  }

  tryRunExclusive(key, callback, surplus) {
    mapOf(this, keyed, 'tryRunExclusive')
    return tryRun(callback, (given) => this.runExclusive(key, given, now, surplus), key)
  }

  cancel(key, reason) {
    const lock = mapOf(this, keyed, 'cancel').find(key)
    lock?.cancel(reason === undefined ? cancelErrorOf(this) : reason)
  }

  cancelAll(reason) {
    for (const lock of mapOf(this, keyed, 'cancelAll').busy())
      lock.cancel(reason === undefined ? cancelErrorOf(this) : reason)
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
    close(this, new ClosedKeyMap(kindOf(this), map))
    await map.onIdle()
  }

  async onIdle() {
    await mapOf(this, keyed, 'onIdle').onIdle()
  }
}

Keyed.prototype[keyedMark] = true

/** Stands in for the keyed map of a closed object: see closed.js. */
class ClosedKeyMap {
  watch = undefined
  #kind
  #map

  constructor(kind, map) {
    this.#kind = kind
    this.#map = map
    this.name = map.name
  }

  open(key) {
    checkKey(key, this.#map)
    const lock = { key, keyMap: this.#map, shared: null, observer: null }
    this.#map.watch?.watches(lock)
    return new Refusal(this.#kind, titleOf(this.#kind.name, lock), lock.observer)
  }

  with(key, use) {
    return use(this.open(key))
  }

  /** The error of a call with an empty list of keys. */
  closedError() {
    const title = titleOf(`keyed ${this.#kind.name}`, { keyMap: null, name: this.name })
    return new Refusal(this.#kind, title, null).error()
  }

  find() {
    return undefined
  }
}

module.exports = { blockingLimits, Keyed, keyed }
