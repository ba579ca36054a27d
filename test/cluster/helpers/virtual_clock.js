'use strict'
// A clock that only tests advance, for engines whose server and renewing thread are in this thread. Whatever they do
// between two timers takes only turns of the event loop, so no stall of this process changes what happens.

/** More turns of the event loop than a command of a fake server, its answer and its messages need. */
const turns = 30

const realTimers = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout }

/** As the timer that Node.js returns. */
class Timer {
  hasRef = true

  constructor(at, call) {
    this.at = at
    this.call = call
  }

  ref() {
    this.hasRef = true
    return this
  }

  unref() {
    this.hasRef = false
    return this
  }
}

class VirtualClock {
  #now = 1000
  #timers = new Set()

  now = () => this.#now

  setTimeout = (call, time = 1, ...args) => {
    // As in Node.js: whole milliseconds, at least one.
    const timer = new Timer(this.#now + Math.max(1, Math.trunc(time)), () => call(...args))
    this.#timers.add(timer)
    return timer
  }

  clearTimeout = (timer) => {
    this.#timers.delete(timer)
  }

  /** The timers of callers follow it as well, until restore(). */
  replaceTimers() {
    globalThis.setTimeout = this.setTimeout
    globalThis.clearTimeout = this.clearTimeout
  }

  restore() {
    Object.assign(globalThis, realTimers)
  }

  /** Whether a timer keeps the process alive. */
  keepsAlive() {
    for (const { hasRef } of this.#timers) if (hasRef) return true
    return false
  }

  /** Resolves after so many milliseconds. */
  after(time) {
    return new Promise((resolve) => this.setTimeout(resolve, time))
  }

  /** Resolves when everything has happened that needs no time. */
  async settle() {
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
  }

  /** Lets so many milliseconds pass, and resolves when everything has happened that is due by then. */
  async pass(time) {
    const end = this.#now + time
    await this.settle()
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#fire(timer)
      await this.settle()
    }
    // Another caller may have let more time pass meanwhile.
    this.#now = Math.max(this.#now, end)
  }

  /** Settles as `promise`: lets time pass from timer to timer until then. */
  async until(promise) {
    let isSettled = false
    const end = () => {
      isSettled = true
    }
    promise.then(end, end)
    await this.settle()
    while (!isSettled) {
      const timer = this.#next(Infinity)
      if (timer === undefined) throw new Error('no timer will settle this promise')
      this.#fire(timer)
      await this.settle()
    }
    return promise
  }

  /** So much time passes at once, as if the event loop was blocked: timers that are due by then run later. */
  skip(time) {
    this.#now += time
  }

  /** The same, and then the event loop runs them before anything else. */
  block(time) {
    this.skip(time)
    const due = [...this.#timers].filter(({ at }) => at <= this.#now)
    for (const timer of due.sort((a, b) => a.at - b.at)) this.#fire(timer)
  }

  #next(end) {
    let next
    for (const timer of this.#timers) {
      if (timer.at <= end && !(timer.at >= next?.at)) next = timer
    }
    return next
  }

  #fire(timer) {
    if (!this.#timers.delete(timer)) return
    this.#now = Math.max(this.#now, timer.at)
    timer.call()
  }
}

module.exports = { VirtualClock }
