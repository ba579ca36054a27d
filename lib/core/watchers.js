'use strict'
// Those who wait for a lock to become free, without wanting it (waitForUnlock). They stand in no
// line: whoever queues to acquire goes first.
const { listen } = require('./abort.js')
const { longestTimeout } = require('./options.js')

class Watchers {
  #all = new Set()
  /** No watcher has a higher priority: most releases need not look at each. */
  #top = -Infinity

  get size() {
    return this.#all.size
  }

  /** `late` makes the error for a timeout. */
  wait(weight, { priority, timeout, signal }, late) {
    return new Promise((resolve, reject) => {
      const watcher = { weight, priority, resolve, end: () => this.#all.delete(watcher) }
      this.#all.add(watcher)
      this.#top = Math.max(this.#top, priority)
      if (timeout === undefined && signal === undefined) return
      const giveUp = (reason) => {
        watcher.end()
        reject(reason)
      }
      const onAbort = () => giveUp(signal.reason)
      let timer
      let listening
      watcher.end = () => {
        this.#all.delete(watcher)
        listening?.stop(onAbort)
        if (timer !== undefined) globalThis.clearTimeout(timer)
      }
      // After that, since a clock or a signal of strange make may call back at once.
      if (timeout !== undefined && timeout <= longestTimeout) {
        timer = globalThis.setTimeout(() => giveUp(late(timeout)), timeout)
      }
      if (this.#all.has(watcher) && signal !== undefined) listening = listen(signal, onAbort)
    })
  }

  /** Tells those who could take their weight of `value` before whoever queues with `topPriority`. */
  tell(value, topPriority) {
    if (topPriority !== undefined && this.#top <= topPriority) return
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
