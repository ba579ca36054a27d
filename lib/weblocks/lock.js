'use strict'
const { modeNames } = require('./request_options.js')
const { isObject, receiverError } = require('../locks/receiver.js')

const secret = Symbol('for the lock manager')

/** Throws unless `it`, the `this` of `getter`, is a Lock. */
let check

/** What a callback is given: a description of its lock. */
class Lock {
  #name
  #mode

  static {
    check = (it, getter) => {
      if (!(isObject(it) && #name in it)) throw receiverError({ class: 'Lock' }, getter, it)
    }
  }

  constructor(key, name, mode) {
    if (key !== secret) throw new TypeError('Illegal constructor')
    this.#name = name
    this.#mode = mode
  }

  get name() {
    check(this, 'name')
    return this.#name
  }

  get mode() {
    check(this, 'mode')
    return modeNames[this.#mode]
  }

  get [Symbol.toStringTag]() {
    return 'Lock'
  }
}

const lockOf = ({ name, mode }) => new Lock(secret, name, mode)

module.exports = { Lock, lockOf }
