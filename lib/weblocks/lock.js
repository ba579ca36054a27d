'use strict'
const { modeNames } = require('./request_options.js')
const { reasonOf } = require('../core/abort.js')
const { isObject } = require('../core/options.js')
const { giveBackUndelivered } = require('../core/releaser.js')
const { receiverError } = require('../core/receiver.js')

const secret = Symbol('for the lock manager')

/** Throws unless `it`, the `this` of `getter`, is a Lock. */
let check

/** Describes a held lock to its callback. */
class Lock {
  #name
  #mode
  #grant

  static {
    check = (it, getter) => {
      if (!(isObject(it) && #name in it)) throw receiverError({ class: 'Lock' }, getter, it)
    }
  }

  constructor(key, name, mode, grant) {
    if (key !== secret) throw new TypeError('Illegal constructor')
    this.#name = name
    this.#mode = mode
    this.#grant = grant
  }

  get name() {
    check(this, 'name')
    return this.#name
  }

  get mode() {
    check(this, 'mode')
    return modeNames[this.#mode]
  }

  get abandoned() {
    check(this, 'abandoned')
    return this.#grant.abandoned
  }

  get fencingToken() {
    check(this, 'fencingToken')
    return this.#grant.fencingToken
  }

  get signal() {
    check(this, 'signal')
    return this.#grant.signal
  }

  get [Symbol.toStringTag]() {
    return 'Lock'
  }
}

/** Makes the Lock of a grant: a releaser, or an object with `abandoned`, `fencingToken` and `signal`. */
const makeLock = ({ name, mode }, grant) => new Lock(secret, name, mode, grant)

/** Releases the lock and throws if `signal` has aborted between the grant and the call of the callback. */
function checkInTime(release, signal) {
  // It stays true if reading a custom signal throws.
  let isLate = true
  try {
    isLate = Boolean(signal?.aborted)
  } finally {
    if (isLate) giveBackUndelivered(release)
  }
  if (isLate) throw reasonOf(signal)
}

module.exports = { checkInTime, Lock, makeLock }
