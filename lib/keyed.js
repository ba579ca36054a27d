'use strict'
// What all keyed maps have in common.
const { Core } = require('./core.js')
const { keyedWatch } = require('./diagnostics/keyed_record.js')
const { E_CANCELED } = require('./errors.js')
const { homeOver } = require('./engines/lines.js')
const { Home, homeByName } = require('./home.js')
const { hostHomeOf } = require('./host_cores.js')
const { readLockOptions, checkMayBlock } = require('./lock_options.js')
const { timeoutError } = require('./many.js')

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

  /** `make()` makes a core of `kind` and `value`, unless there is one `atRest`. */
  constructor(options, kind, make, atRest, value = '') {
    const settings = readLockOptions(options, 0)
    const { cancelError = E_CANCELED, engine, host, name, isStrict, mayBlock } = settings
    const watch = keyedWatch(settings, kind)
    const isPlain = !isStrict && mayBlock === Core.prototype.mayBlock && watch === undefined
    const begin = watch === undefined ? make : () => watch.like(make())
    const makeSo = isPlain ? make : () => Object.assign(begin(), { isStrict, mayBlock })
    const traits = `${isStrict} ${mayBlock} ${watch?.traits}`
    // A core that is not plain is not for other maps.
    if (engine !== undefined) {
      this.#home = homeOver(settings, kind, value, watch)
    } else if (host !== undefined) {
      this.#home = hostHomeOf(make(), host, { isStrict, mayBlock }, undefined, watch)
    } else if (name !== undefined) {
      this.#home = homeByName(name, kind, `${value} ${traits}`, makeSo)
    } else {
      this.#home = new Home(isPlain ? atRest : [], makeSo)
    }
    if (watch !== undefined) watch.over(this.#home)
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

  snapshot() {
    return this.#home.snapshot()
  }
}

module.exports = { blockingHomeOf, homeOf, Keyed, lateFor }
