'use strict'
const { checkKey, titleOf } = require('../core/keys.js')
const { Refusal } = require('./closed.js')

/** Stands in for the keyed map of a closed object: see closed.js. */
class ClosedKeyMap {
  watch = undefined
  #kind
  #map

  constructor(kind, map) {
    this.#kind = kind
    this.#map = map
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
    const title = titleOf(`keyed ${this.#kind.name}`, { keyMap: null, name: this.#map.name })
    return new Refusal(this.#kind, title, null).error()
  }

  find() {
    return undefined
  }
}

module.exports = { ClosedKeyMap }
