'use strict'
// The fencing tokens of grants of scope host.
const native = require('../addon/load.js')
const { lazyProperty } = require('../core/releaser.js')

const fence = Symbol('fence')
const fencingToken = lazyProperty((release) => release[fence].token())

/**
 * The fencing token of a grant of the lock at `place`, drawn on first use while isGood(). A holder that has waited for a
 * condition, while others held the lock, draws another one.
 */
class Fence {
  #place
  #isGood
  #lender
  #token
  #returns

  constructor(place, isGood, lender) {
    this.#place = place
    this.#isGood = isGood
    this.#lender = lender
  }

  token() {
    const returns = this.#lender?.returns
    if ((this.#token === undefined || this.#returns !== returns) && this.#isGood()) {
      this.#token = native.host.fence(this.#place)
      this.#returns = returns
    }
    return this.#token
  }
}

/**
 * Adds a fencing token to `release`, the releaser of a grant of the lock at `place`. `lender` is that of a mutex, whose
 * holder may wait for a condition.
 */
function fenced(release, place, isGood, lender) {
  release[fence] = new Fence(place, isGood, lender)
  return Object.defineProperty(release, 'fencingToken', fencingToken)
}

module.exports = { fenced }
