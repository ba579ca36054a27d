'use strict'
// How long a lease stays with a thread, where one after another has it: all of them have a turn together.
const { isOver } = require('../core/cohort.js')
const { now } = require('./clock.js')

/** The hand-offs of one lease: its token leaves room for no more. */
const mostUses = 4096
const tokenBits = 12n

class Turn {
  #token
  #bound
  #end
  #most
  #uses = 0
  /** When others began to wait, and the uses until then. */
  #wantedAt
  #usesBefore = 0

  /**
   * `token` is that of the server, and `bound` one of core/cohort.js; it is over at `end`, even if no other waits, and
   * after one use where it `isForEach` hold anew.
   */
  constructor(token, bound, end, isForEach) {
    this.#token = token << tokenBits
    this.#bound = bound
    this.#end = end
    this.#most = isForEach ? 1 : mostUses
  }

  /** Others wait for the lease: from now on there is an end to passing it on here. */
  limit() {
    if (this.#wantedAt !== undefined) return
    this.#wantedAt = now()
    this.#usesBefore = this.#uses
  }

  isOver(time) {
    if (time >= this.#end || this.#uses >= this.#most) return true
    if (this.#wantedAt === undefined) return false
    return isOver(this.#bound, this.#uses - this.#usesBefore, time - this.#wantedAt)
  }

  /** Its tokens come after the first one of `other`, which gives no more. */
  follow(other) {
    this.#token = other.#token
  }

  /** Of its own for each, but for readers that come in together in very large numbers. */
  nextToken() {
    const token = this.#token | BigInt(Math.min(this.#uses, mostUses - 1))
    this.#uses++
    return token
  }
}

module.exports = { Turn }
