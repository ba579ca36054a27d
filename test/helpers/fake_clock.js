'use strict'

/** Timers that fire when told to. They replace those of the global object until `restore()`. */
class FakeClock {
  now = 0
  #timers = new Map()
  #last = 0
  #real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout }

  constructor() {
    globalThis.setTimeout = (call, ms = 0) => {
      this.#timers.set(++this.#last, { at: this.now + ms, call })
      return this.#last
    }
    globalThis.clearTimeout = (timer) => this.#timers.delete(timer)
  }

  /** The number of set timers. */
  get size() {
    return this.#timers.size
  }

  advance(ms) {
    this.now += ms
    const due = [...this.#timers].filter(([, { at }]) => at <= this.now)
    due.sort(([, a], [, b]) => a.at - b.at)
    for (const [timer, { call }] of due) if (this.#timers.delete(timer)) call()
  }

  restore() {
    Object.assign(globalThis, this.#real)
  }
}

module.exports = { FakeClock }
