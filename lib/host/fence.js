'use strict'
// The fencing tokens of grants of scope host.
const native = require('../addon/load.js')
const { defineLazy } = require('../core/releaser.js')

const fence = Symbol('fence')

function fencingToken() {
  return this[fence].token()
}

/**
 * The fencing token of a grant of the lock at `wordIndex`. It is drawn on first use, if isGood() is still true. A
 * holder that has waited for a condition draws a new one, because others have held the lock meanwhile.
 */
class Fence {
  #wordIndex
  #isGood
  #lender
  #token
  #returns

  constructor(wordIndex, isGood, lender) {
    this.#wordIndex = wordIndex
    this.#isGood = isGood
    this.#lender = lender
  }

  token() {
    const returns = this.#lender?.returns
    if ((this.#token === undefined || this.#returns !== returns) && this.#isGood()) {
      this.#token = native.host.fence(this.#wordIndex)
      this.#returns = returns
    }
    return this.#token
  }
}

/**
 * Adds a fencing token to `release`, the releaser of a grant of the lock at `wordIndex`. A mutex passes its `lender`,
 * because its holder may wait for a condition.
 */
function fenced(release, wordIndex, isGood, lender) {
  release[fence] = new Fence(wordIndex, isGood, lender)
  return defineLazy(release, 'fencingToken', fencingToken)
}

module.exports = { fenced }
