'use strict'
// Closed keyed maps: see closed.js.
const { checkKey, titleOf } = require('../core/keys.js')
const { closedKind, entrances, Refusal } = require('./closed.js')

/** Returns the kind of a closed keyed lock. */
function closedKeyed(kind, map) {
  const closed = new ClosedKeyMap(kind, map)
  const { lockFor = () => map, closedFor = () => closed } = kind
  const mapFor = (method) => (entrances.has(method) ? closedFor(method, closed) : lockFor(method))
  return { ...closedKind(kind, mapFor), isClosed: true }
}

/** Stands in for the keyed map of a closed object. */
class ClosedKeyMap {
  watch = undefined
  #kind
  #map

  constructor(kind, map) {
    this.#kind = kind
    this.#map = map
  }

  open(key) {
    checkKey(key)
    const lock = { key, keyMap: this.#map, shared: null, observer: null }
    this.#map.watch?.watches(lock)
    return new Refusal(this.#kind, titleOf(this.#kind.name, lock), lock.observer)
  }

  with(key, use) {
    return use(this.open(key))
  }

  /** The error of a call with an empty list of keys. */
  closedError() {
    return new Refusal(
      this.#kind,
      titleOf(`keyed ${this.#kind.name}`, { keyMap: null, name: this.#map.name }),
      null,
    ).error()
  }

  find() {
    return undefined
  }
}

module.exports = { closedKeyed }
