'use strict'
// The callers of waitForUnlock(), which wait for a lock to become free without acquiring it. They are not in the lock's
// queue: a waiter that wants to acquire goes first.

/** The watchers of one weight, by priority. */
class Weight {
  byPriority = new Map()

  constructor(weight) {
    this.weight = weight
  }

  add(watcher) {
    const { priority } = watcher
    const others = this.byPriority.get(priority)
    if (others === undefined) this.byPriority.set(priority, new Set([watcher]))
    else others.add(watcher)
  }

  delete(watcher) {
    const { priority } = watcher
    const all = this.byPriority.get(priority)
    all.delete(watcher)
    if (all.size === 0) this.byPriority.delete(priority)
  }
}

/** A queue in the sense of waiter.js, but without an order: any number of watchers may leave at once. */
class Watchers {
  /** Sorted by weight, the lightest first, so that a release looks only at weights that fit. */
  #weights = []
  /** The highest priority of any watcher, so that most releases need not look at any. */
  #top = -Infinity
  size = 0

  constructor(timeoutError) {
    this.timeoutError = timeoutError
  }

  enqueue(watcher) {
    const { priority, weight } = watcher
    const at = this.#find(weight)
    if (this.#weights[at]?.weight !== weight) this.#weights.splice(at, 0, new Weight(weight))
    this.#weights[at].add(watcher)
    this.#top = Math.max(this.#top, priority)
    this.size++
  }

  leave(watcher, reason) {
    this.#remove(watcher)
    watcher.giveUp(reason)
  }

  #remove(watcher) {
    const at = this.#find(watcher.weight)
    this.#weights[at].delete(watcher)
    if (this.#weights[at].byPriority.size === 0) this.#weights.splice(at, 1)
    this.size--
  }

  /** Returns the index of `weight`, or the index to insert it at. */
  #find(weight) {
    let low = 0
    let high = this.#weights.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#weights[middle].weight < weight) low = middle + 1
      else high = middle
    }
    return low
  }

  /**
   * Resolves each watcher whose weight fits `value` and whose priority exceeds `topPriority`, the priority of the
   * lock's next waiter.
   */
  tell(value, topPriority) {
    if (topPriority !== undefined && this.#top <= topPriority) return
    const told = []
    for (const { weight, byPriority } of this.#weights) {
      if (weight > value) break
      for (const [priority, watchers] of byPriority) {
        const isFirst = topPriority === undefined || priority > topPriority
        if (isFirst) for (const watcher of watchers) told.push(watcher)
      }
    }
    // The order of async-mutex: the heaviest first, then by priority, then by arrival.
    told.sort((a, b) => b.weight - a.weight || b.priority - a.priority)
    // Stopping the custom signal of one watcher may abort another watcher, or release the lock again.
    for (const watcher of told) {
      watcher.markOver()
      this.#remove(watcher)
    }
    for (const watcher of told) {
      watcher.end()
      watcher.resolve()
    }
  }
}

module.exports = { Watchers }
