'use strict'
// A map of what came last: there are promises that never settle, and holds that never end. It has two generations,
// since to take the oldest out of a Map, one by one, costs more the more of them have gone.

class Recent {
  #young = new Map()
  #old = new Map()
  #most
  #onLoss

  /** Of at least `most` things, and at most twice as many. `onLoss(thing)` is for each that has been for too long. */
  constructor(most, onLoss) {
    this.#most = most
    this.#onLoss = onLoss
  }

  get(id) {
    return this.#young.get(id) ?? this.#old.get(id)
  }

  set(id, thing) {
    this.#old.delete(id)
    this.#young.set(id, thing)
    if (this.#young.size < this.#most) return
    if (this.#onLoss !== undefined) this.#old.forEach(this.#onLoss)
    this.#old = this.#young
    this.#young = new Map()
  }

  delete(id) {
    this.#young.delete(id)
    this.#old.delete(id)
  }
}

module.exports = { Recent }
