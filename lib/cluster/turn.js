'use strict'
// Limits how long a lease stays with a thread while its callers pass it on. A turn covers all of these callers.
const { isOver } = require('../core/cohort.js')

/** The most hand-offs of one lease. A token has no room to count more. */
const mostUses = 4096
const tokenBits = 12n

class Turn {
  #cohort
  #clock
  #token
  #end
  #most
  #uses = 0
  /** When other processes began to wait, and how many uses there were by then. */
  #wantedAt = Infinity
  #usesBefore = 0

  /**
   * `token` is the server's token, and `cohort.bound` a bound of core/cohort.js. Even if no other process waits, the
   * turn is over after half of the cohort's maxHold, and after one use if each hold has its own lease.
   */
  constructor(cohort, token) {
    this.#cohort = cohort
    this.#clock = cohort.hub.clock
    this.#token = token << tokenBits
    this.#end = this.#clock.now() + cohort.maxHold / 2
    this.#most = cohort.isForEach ? 1 : mostUses
  }

  /** Called when other processes wait for the lease: limits how long this thread passes it on. */
  limit() {
    if (this.#wantedAt !== Infinity) return
    this.#wantedAt = this.#clock.now()
    this.#usesBefore = this.#uses
  }

  isOver(time) {
    if (time >= this.#end || this.#uses >= this.#most) return true
    return isOver(this.#cohort.bound, this.#uses - this.#usesBefore, time - this.#wantedAt)
  }

  /** Continues the tokens of `other`, which issues no more. */
  follow(other) {
    this.#token = other.#token
  }

  /** Returns a new token for each use. A very large number of readers that enter together may share one. */
  nextToken() {
    const token = this.#token | BigInt(Math.min(this.#uses, mostUses - 1))
    this.#uses++
    return token
  }
}

module.exports = { Turn }
