'use strict'
// How long a lease stays with a thread while its callers pass it on: a turn covers all of them.
const { isOver } = require('../core/cohort.js')

/** The most hand-offs of one lease: its token has no room for more. */
const mostUses = 4096
const tokenBits = 12n

class Turn {
  #clock
  #token
  #cohort
  #end
  #most
  #uses = 0
  /** When other processes began to wait, and the uses until then. */
  #wantedAt
  #usesBefore = 0

  /**
   * Counts by `clock`. `token` is the server's, and `cohort.bound` one of core/cohort.js. The turn is over at `end` even
   * if no other process waits, and after one use if it is for each hold anew.
   */
  constructor(clock, token, cohort, end) {
    this.#clock = clock
    this.#token = token << tokenBits
    this.#cohort = cohort
    this.#end = end
    this.#most = cohort.isForEach ? 1 : mostUses
  }

  /** Called when other processes wait for the lease: limits how long this thread passes it on. */
  limit() {
    if (this.#wantedAt !== undefined) return
    this.#wantedAt = this.#clock.now()
    this.#usesBefore = this.#uses
  }

  isOver(time) {
    if (time >= this.#end || this.#uses >= this.#most) return true
    if (this.#wantedAt === undefined) return false
    return isOver(this.#cohort.bound, this.#uses - this.#usesBefore, time - this.#wantedAt)
  }

  /** Its tokens come after the first one of `other`, which issues no more. */
  follow(other) {
    this.#token = other.#token
  }

  /** A new token for each use. Readers that enter together in very large numbers may share one. */
  nextToken() {
    const token = this.#token | BigInt(Math.min(this.#uses, mostUses - 1))
    this.#uses++
    return token
  }
}

module.exports = { Turn }
