'use strict'
// What all keyed maps have in common.
const { Core } = require('./core.js')
const { E_CANCELED } = require('./errors.js')
const { Home, homeByName } = require('./home.js')
const { readLockOptions, checkMayBlock } = require('./lock_options.js')

/** The home of a keyed map: for the classes derived from it, and nobody else. */
let homeOf
/** The same for `method`, which is about to block this thread. */
let blockingHomeOf

class Keyed {
  #home
  #cancelError
  #mayBlock

  static {
    homeOf = (keyed) => keyed.#home
    blockingHomeOf = (keyed, method) => {
      checkMayBlock(keyed.#mayBlock, method)
      return keyed.#home
    }
  }

  /** `make()` makes a core of `kind` and `value`, unless there is one `atRest`. */
  constructor(options, kind, make, atRest, value = '') {
    const { cancelError = E_CANCELED, name, isStrict, mayBlock } = readLockOptions(options, 0)
    const isPlain = !isStrict && mayBlock === Core.prototype.mayBlock
    const makeSo = isPlain ? make : () => Object.assign(make(), { isStrict, mayBlock })
    // A core that is not plain is not for other maps.
    this.#home =
      name === undefined
        ? new Home(isPlain ? atRest : [], makeSo)
        : homeByName(name, kind, `${value} ${isStrict} ${mayBlock}`, makeSo)
    this.#cancelError = cancelError
    this.#mayBlock = mayBlock
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
}

module.exports = { blockingHomeOf, homeOf, Keyed }
