'use strict'
// What all keyed maps have in common.
const { E_CANCELED } = require('../core/errors.js')
const { readLockOptions, checkMayBlock } = require('../lock_options.js')
const { timeoutError } = require('./many.js')
const { isOfKind, receiverError } = require('./receiver.js')
const { openKeyMap } = require('../scopes.js')

/** What all of them are. */
const keyed = { class: 'Keyed', instance: 'a keyed lock' }

/** The home of `it`, which is the `this` of `method` of that kind: anything else throws. */
let homeOf
/** The same for a method that is about to block this thread. */
let blockingHomeOf
/** The same: what cancel() of it rejects with. */
let cancelErrorOf
/** Makes the error of those who have waited too long for several keys of it. */
let lateFor

class Keyed {
  #home
  #kind
  #cancelError
  #mayBlock

  static {
    homeOf = (it, kind, method) => {
      try {
        if (it.#kind === kind) return it.#home
      } catch {
        // As in lib/locks/single.js.
        throw receiverError(kind, method, it)
      }
      if (!isOfKind(it.#kind, kind)) throw receiverError(kind, method, it, it.#kind)
      return it.#home
    }
    cancelErrorOf = (it, kind, method) => {
      homeOf(it, kind, method)
      return it.#cancelError
    }
    lateFor = (it) => {
      const home = it.#home
      const trace = home.watch?.trace()
      return (keys, timeout) => {
        const error = silenceOf(home, keys, timeout) ?? timeoutError(keys, timeout)
        trace?.moveTo(error)
        return error
      }
    }
    blockingHomeOf = (it, kind, method) => {
      const home = homeOf(it, kind, method)
      checkMayBlock(it.#mayBlock, method)
      return home
    }
  }

  constructor(kind, options, value) {
    const settings = readLockOptions(options, 0)
    this.#home = openKeyMap(kind, value, settings)
    this.#kind = kind
    this.#cancelError = settings.cancelError ?? E_CANCELED
    this.#mayBlock = settings.mayBlock
  }

  isLocked(key) {
    return homeOf(this, keyed, 'isLocked').look(key, (core) => core.isLocked(), false)
  }

  cancel(key, reason = cancelErrorOf(this, keyed, 'cancel')) {
    homeOf(this, keyed, 'cancel').find(key)?.cancel(reason)
  }

  cancelAll(reason = cancelErrorOf(this, keyed, 'cancelAll')) {
    for (const core of homeOf(this, keyed, 'cancelAll').busy()) core.cancel(reason)
  }

  get size() {
    return homeOf(this, keyed, 'size').size
  }

  keys() {
    return homeOf(this, keyed, 'keys').keys().values()
  }

  snapshot() {
    return homeOf(this, keyed, 'snapshot').snapshot()
  }
}

/** The error of a server that has not answered for one of `keys`, if there is such a one. */
function silenceOf(home, keys, timeout) {
  for (const key of keys) {
    const silence = home.find(key)?.silence?.(timeout)
    if (silence !== undefined) return silence
  }
  return undefined
}

module.exports = { blockingHomeOf, homeOf, Keyed, keyed, lateFor }
