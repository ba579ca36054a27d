'use strict'

const none = new Map()

/**
 * Steps by their ids: the latest that have come and have not gone, no more than `most`. The older half goes at once:
 * to look for the oldest in a Map takes longer with each that has gone from there.
 */
class Latest {
  #half
  #young = new Map()
  #old = none

  constructor(most) {
    this.#half = most / 2
  }

  get(id) {
    return this.#young.get(id) ?? this.#old.get(id)
  }

  delete(id) {
    if (!this.#young.delete(id)) this.#old.delete(id)
  }

  /** Returns those that are forgotten for it, as a Map. */
  add(step) {
    this.#old.delete(step.id)
    this.#young.set(step.id, step)
    if (this.#young.size < this.#half) return none
    const forgotten = this.#old
    this.#old = this.#young
    this.#young = new Map()
    return forgotten
  }
}

module.exports = { Latest }
