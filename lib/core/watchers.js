'use strict'
// Callers that wait for a lock to become free, without wanting it (waitForUnlock). They are in no queue: a waiter
// that is queued to acquire goes first.
const { Limits } = require('./waiter.js')

class Watchers {
  #all = new Set()
  /** The highest priority of any watcher, so that most releases need not look at each. */
  #top = -Infinity

  get size() {
    return this.#all.size
  }

  /** `late` makes the error of a timeout. */
  wait(weight, { priority, timeout, signal }, late) {
    return new Promise((resolve, reject) => {
      const watcher = new Limits(weight, priority)
      watcher.resolve = resolve
      this.#all.add(watcher)
      this.#top = Math.max(this.#top, priority)
      if (timeout === undefined && signal === undefined) return
      const giveUp = (reason) => {
        this.#end(watcher)
        reject(reason)
      }
      watcher.begin({ timeout, signal }, giveUp, late)
    })
  }

  #end(watcher) {
    this.#all.delete(watcher)
    watcher.end()
  }

  /**
   * Resolves each watcher whose weight fits `value` and that goes before the head of the queue,
   * which has `topPriority`.
   */
  tell(value, topPriority) {
    if (topPriority !== undefined && this.#top <= topPriority) return
    const told = []
    for (const watcher of this.#all) {
      const first = topPriority === undefined || watcher.priority > topPriority
      if (first && watcher.weight <= value) told.push(watcher)
    }
    // The order of async-mutex: the heaviest first, then by priority, then by arrival.
    told.sort((a, b) => b.weight - a.weight || b.priority - a.priority)
    for (const watcher of told) {
      this.#end(watcher)
      watcher.resolve()
    }
  }
}

module.exports = { Watchers }
