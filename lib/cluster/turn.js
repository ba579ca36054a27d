'use strict'
// How long a lease stays with a thread, where one after another has it: all of them have a turn together.
const { now } = require('./clock.js')

/** The hand-offs of one lease: its token leaves room for no more. */
const mostUses = 4096
const tokenBits = 12n

class Turn {
  #token
  #bound
  #uses = 0
  #lastUse = mostUses
  /** Until then hand-offs are not counted. */
  #countsFrom = Number.POSITIVE_INFINITY
  #end

  /** `token` is that of the server, and `bound` one of cohort.js; it is over at `end`, whoever waits. */
  constructor(token, bound, end) {
    this.#token = token << tokenBits
    this.#bound = bound
    this.#end = end
  }

  /** Others wait for the lease: from now on there is an end to passing it on here. */
  limit() {
    const { handOffs, leastTime, time } = this.#bound
    const start = now()
    this.#lastUse = Math.min(this.#lastUse, this.#uses + handOffs)
    this.#countsFrom = Math.min(this.#countsFrom, start + leastTime)
    this.#end = Math.min(this.#end, start + time)
  }

  isOver(time) {
    if (time >= this.#end || this.#uses >= mostUses) return true
    return this.#uses >= this.#lastUse && time >= this.#countsFrom
  }

  /** Its tokens come after the first one of `other`, which gives no more. */
  follow(other) {
    this.#token = other.#token
  }

  /** Of its own for each, but for readers who come in together in very large numbers. */
  nextToken() {
    const token = this.#token | BigInt(Math.min(this.#uses, mostUses - 1))
    this.#uses++
    return token
  }
}

module.exports = { Turn }
