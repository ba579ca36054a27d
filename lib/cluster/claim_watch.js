'use strict'
// Confirms the claims of claims.js, in the thread that renews the session. It looks at them while there are any, and for a
// second after the last one: to wake a thread costs the event loop up to 0.2 ms, while its caller waits for its lock.
const { Slots, slots } = require('./claims.js')

/** A claim that is open at two looks in a row is confirmed: after one to two times this, in milliseconds. */
const lookEvery = 20
/** The looks in vain after which it sleeps. */
const patience = 50

class ClaimWatch {
  #slots
  #clock
  #post
  /** The connection of a driver's keeper, while it works and can confirm. */
  #connection
  /** The numbers of the last look. */
  #seen = new Int32Array(slots)
  /** The looks since the last one that found a claim. */
  #inVain = 0
  #isAwake = false

  /** `buffer` is that of Claims, and `post` sends it the answers. */
  constructor({ buffer, clock, post }) {
    this.#slots = new Slots(buffer)
    this.#clock = clock
    this.#post = post
  }

  /** The connection works, or is undefined. */
  use(connection) {
    this.#connection = typeof connection?.confirm === 'function' ? connection : undefined
    this.#slots.canConfirm = this.#connection !== undefined
  }

  start() {
    if (this.#isAwake) return
    this.#isAwake = true
    this.#inVain = 0
    this.#lookLater()
  }

  #lookLater() {
    this.#clock.setTimeout(() => this.#look(), lookEvery)
  }

  #look() {
    this.#inVain = this.#slots.look() ? 0 : this.#inVain + 1
    for (let slot = 0; slot < slots; slot++) {
      const number = this.#slots.number(slot)
      const isOld = number > 0 && number === this.#seen[slot]
      if (isOld && this.#slots.change(slot, number, -number)) this.#confirm(slot)
      this.#seen[slot] = number
    }
    if (this.#inVain >= patience && this.#slots.sleep()) this.#isAwake = false
    else this.#lookLater()
  }

  async #confirm(slot) {
    const sent = this.#clock.now()
    let answer
    try {
      answer = await this.#connection?.confirm(this.#slots.read(slot))
    } catch {
      // After any error the event loop confirms.
    }
    this.#post({ claim: slot, answer: answer && { ...answer, sent } })
  }
}

module.exports = { ClaimWatch, lookEvery }
