'use strict'
// Confirms the claims of claims.js, in the thread that renews the session. It looks at them while there are any, and for a
// second after the last one: to wake a thread costs the event loop up to 0.2 ms, while its caller waits for its lock.
const { Slots, slots } = require('./claims.js')
const { after, leftOf, safely } = require('./clock.js')
const { pause } = require('./patience.js')

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

  /** Attempts until the claim is over. After a failure the event loop does so, too, unless it is blocked. */
  async #confirm(slot) {
    const { request, begun } = this.#slots.read(slot)
    const last = begun + request.claim - pause
    let answer = await this.#attempt(request, begun)
    while (answer === undefined && this.#clock.now() < last) {
      this.#post({ claim: slot, isLate: true })
      await after(this.#clock, pause)
      answer = await this.#attempt(request, begun)
    }
    this.#post({ claim: slot, answer })
  }

  async #attempt(request, begun) {
    const sent = this.#clock.now()
    const maxHold = leftOf(request.maxHold, sent - begun)
    try {
      const answer = await this.#connection?.confirm({ ...request, maxHold })
      return answer && { ...answer, until: sent + safely(maxHold) }
    } catch {
      return undefined
    }
  }
}

module.exports = { ClaimWatch, lookEvery }
