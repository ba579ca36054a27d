'use strict'

/** Replaces the global timers between install() and uninstall(): only tick() lets time pass. */
class FakeTimers {
  #now = 0
  #timers = new Map()
  #last = 0
  #real
  /** The number of timers ever set. */
  set = 0

  install() {
    const { setTimeout, clearTimeout } = globalThis
    this.#real = { setTimeout, clearTimeout }
    globalThis.setTimeout = (callback, ms = 0, ...args) => {
      const id = ++this.#last
      this.set++
      this.#timers.set(id, {
        id,
        at: this.#now + (ms >= 1 ? Number(ms) : 1),
        run: () => callback(...args),
      })
      return id
    }
    globalThis.clearTimeout = (id) => this.#timers.delete(id)
    return this
  }

  uninstall() {
    Object.assign(globalThis, this.#real)
  }

  /** The number of pending timers. */
  get pending() {
    return this.#timers.size
  }

  /** Synchronously, as fake timers do. */
  tick(ms) {
    const end = this.#now + ms
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#now = next.at
      this.#timers.delete(next.id)
      next.run()
    }
    this.#now = end
  }

  #next(end) {
    const due = [...this.#timers.values()].filter(({ at }) => at <= end)
    return due.sort((a, b) => a.at - b.at || a.id - b.id)[0]
  }
}

/** A fake clock for every test of the describe that calls this. */
function useFakeTimers() {
  const fake = { clock: undefined }
  beforeEach(() => {
    fake.clock = new FakeTimers().install()
  })
  afterEach(() => fake.clock.uninstall())
  return fake
}

module.exports = { FakeTimers, useFakeTimers }
