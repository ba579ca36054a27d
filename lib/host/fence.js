'use strict'
// The fencing tokens of grants of scope host.
const native = require('../load.js')

const fence = Symbol('fence')

// One function for all releasers: each with a getter of its own would have a hidden class of its own.
const fencingToken = {
  configurable: true,
  enumerable: true,
  get() {
    return this[fence].token()
  },
}

/** The number of a grant of the lock at `place`, drawn when it is first asked for, while isGood(). */
class Fence {
  #place
  #isGood
  #token

  constructor(place, isGood) {
    this.#place = place
    this.#isGood = isGood
  }

  token() {
    if (this.#token === undefined && this.#isGood()) this.#token = native.host.fence(this.#place)
    return this.#token
  }
}

/** `release`, of a grant of the lock at `place`, with its token. */
function fenced(release, place, isGood) {
  release[fence] = new Fence(place, isGood)
  return Object.defineProperty(release, 'fencingToken', fencingToken)
}

module.exports = { fenced }
