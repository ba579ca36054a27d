'use strict'
// The signals of holds that may be lost. Each aborts at the loss, before another holder gets the lock.
const { defineLazy } = require('../core/releaser.js')

const source = Symbol('signal')

function signal() {
  return this[source].signal()
}

/** The signal of a grant. It is created on first use, if isGood() is still true. */
class HoldSignal {
  #lender
  #isGood
  #signal

  constructor(lender, isGood) {
    this.#lender = lender
    this.#isGood = isGood
  }

  signal() {
    this.#signal ??= this.#isGood() ? this.#lender.signal() : this.#lender.lateSignal()
    return this.#signal
  }
}

/** Adds a signal to `release`, the releaser of a grant that `lender` may end. */
function signalled(release, lender, isGood) {
  release[source] = new HoldSignal(lender, isGood)
  return defineLazy(release, 'signal', signal)
}

module.exports = { signalled }
