'use strict'
// What all keyed maps have in common.
const { E_CANCELED } = require('./errors.js')
const { readLockOptions, checkMayBlock } = require('./lock_options.js')
const { timeoutError } = require('./many.js')
const { openKeyMap } = require('./scopes.js')

/** The home of a keyed map: for the classes derived from it, and nobody else. */
let homeOf
/** The same for `method`, which is about to block this thread. */
let blockingHomeOf
/** Makes the error of those who have waited too long for several keys of it. */
let lateFor

class Keyed {
  #home
  #cancelError
  #mayBlock

  static {
    homeOf = (keyed) => keyed.#home
    lateFor = (keyed) => (keys, timeout) => {
      for (const key of keys) {
        const silence = keyed.#home.find(key)?.silence?.(timeout)
        if (silence !== undefined) return silence
      }
      return timeoutError(keys, timeout)
    }
    blockingHomeOf = (keyed, method) => {
      checkMayBlock(keyed.#mayBlock, method)
      return keyed.#home
    }
  }

  constructor(kind, options, value) {
    const settings = readLockOptions(options, 0)
    this.#home = openKeyMap(kind, value, settings)
    this.#cancelError = settings.cancelError ?? E_CANCELED
    this.#mayBlock = settings.mayBlock
  }

  isLocked(key) {
    return this.#home.look(key, (core) => core.isLocked(), false)
  }

  cancel(key, reason = this.#cancelError) {
    this.#home.find(key)?.cancel(reason)
  }

  cancelAll(reason = this.#cancelError) {
    for (const core of this.#home.busy()) core.cancel(reason)
  }

  get size() {
    return this.#home.size
  }

  keys() {
    return this.#home.keys().values()
  }

  snapshot() {
    return this.#home.snapshot()
  }
}

module.exports = { blockingHomeOf, homeOf, Keyed, lateFor }
