'use strict'
const { modeNames } = require('./lock_request_options.js')

const secret = Symbol('for those who have a lock to describe')

/** What a callback is given: a description of its lock. */
class Lock {
  #name
  #mode

  constructor(key, name, mode) {
    if (key !== secret) throw new TypeError('Illegal constructor')
    this.#name = name
    this.#mode = mode
  }

  get name() {
    return this.#name
  }

  get mode() {
    return modeNames[this.#mode]
  }

  get [Symbol.toStringTag]() {
    return 'Lock'
  }
}

const lockOf = ({ name, mode }) => new Lock(secret, name, mode)

module.exports = { Lock, lockOf }
