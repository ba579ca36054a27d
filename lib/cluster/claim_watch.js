'use strict'
// Confirms the claims of claims.js, in the renewing thread. It polls the claims while there are any, and for a second
// after the last one, because waking the thread costs the event loop up to 0.2 ms, for which a caller would wait.
const { Slots, slots } = require('./claims.js')
const { after, leftOf, safely } = require('./clock.js')
const { pause } = require('./patience.js')

/** The time between two polls, in milliseconds. A claim that is open at two polls in a row is confirmed. */
const lookEvery = 20
/** After this many polls without a claim the polling stops. */
const patience = 50

class ClaimWatch {
  #slots
  #clock
  #post
  /** The connection of the driver's keeper, while it works and can confirm. */
  #connection
  /** The numbers that the last poll found. */
  #seen = new Int32Array(slots)
  /** How many polls have found no claim since the last one that did. */
  #inVain = 0
  #isAwake = false

  /** `buffer` is the memory of Claims, and `post` sends the answers to it. */
  constructor({ buffer, clock, post }) {
    this.#slots = new Slots(buffer)
    this.#clock = clock
    this.#post = post
  }

  /** Sets the working connection, or undefined. */
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

  /** Tries to confirm until the claim is over. After a failure the event loop tries, too, unless it is blocked. */
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
