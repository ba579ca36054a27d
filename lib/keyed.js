'use strict'
// What all keyed maps have in common.

/** The home of a keyed map: for the classes derived from it, and nobody else. */
let homeOf

class Keyed {
  #home

  static {
    homeOf = (keyed) => keyed.#home
  }

  constructor(home) {
    this.#home = home
  }

  isLocked(key) {
    return this.#home.find(key)?.isLocked() ?? false
  }

  cancel(key, reason) {
    this.#home.find(key)?.cancel(reason)
  }

  cancelAll(reason) {
    for (const core of this.#home.busy()) core.cancel(reason)
  }

  get size() {
    return this.#home.size
  }

  keys() {
    const keys = this.#home.busy().map((core) => core.key)
    return keys.values()
  }
}

module.exports = { homeOf, Keyed }
