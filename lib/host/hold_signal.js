'use strict'
// The signals of holds that may be lost: aborted when that happens, before another one has the lock.

const source = Symbol('signal')

// One function for all releasers, as for their fencing tokens (fence.js).
const signal = {
  configurable: true,
  enumerable: true,
  get() {
    return this[source].signal()
  },
}

/** The signal of a grant, while isGood(), made when it is first asked for. */
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

/** `release`, of a grant that `lender` may end. */
function signalled(release, lender, isGood) {
  release[source] = new HoldSignal(lender, isGood)
  return Object.defineProperty(release, 'signal', signal)
}

module.exports = { signalled }
