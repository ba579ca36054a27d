'use strict'
// Those who wait for a lock to become free, without wanting it (waitForUnlock). They stand in no
// line: whoever queues to acquire goes first.
const { longestTimeout } = require('./options.js')

class Watchers {
  #all = new Set()

  get size() {
    return this.#all.size
  }

  /** `late` makes the error for a timeout. */
  wait(weight, { priority, timeout, signal }, late) {
    return new Promise((resolve, reject) => {
      const watcher = { weight, priority, resolve, end: () => this.#all.delete(watcher) }
      this.#all.add(watcher)
      if (timeout === undefined && signal === undefined) return
      const giveUp = (reason) => {
        watcher.end()
        reject(reason)
      }
      const onAbort = () => giveUp(signal.reason)
      signal?.addEventListener('abort', onAbort, { once: true })
      let timer
      if (timeout !== undefined && timeout <= longestTimeout) {
        timer = globalThis.setTimeout(() => giveUp(late(timeout)), timeout)
      }
      watcher.end = () => {
        this.#all.delete(watcher)
        signal?.removeEventListener('abort', onAbort)
        if (timer !== undefined) globalThis.clearTimeout(timer)
      }
    })
  }

  /** Tells those who could take their weight of `value` before whoever queues with `topPriority`. */
  tell(value, topPriority) {
    const told = []
    for (const watcher of this.#all) {
      const first = topPriority === undefined || watcher.priority > topPriority
      if (first && watcher.weight <= value) told.push(watcher)
    }
    // In the order of async-mutex: the heaviest first, then by priority, then as they came.
    told.sort((a, b) => b.weight - a.weight || b.priority - a.priority)
    for (const watcher of told) {
      watcher.end()
      watcher.resolve()
    }
  }
}

module.exports = { Watchers }
