'use strict'
// A promise in a wait queue. There may be very many of them, so that every field counts: what only some have
// (a weight, a priority, a timer, a signal) is in their limits.
const { listen } = require('./abort.js')
const { longestTimeout } = require('./options.js')

/** What every waiter has, whichever queue it is in. */
class AnyWaiter {
  /** `resolve` is the promise's; what it resolves to is a matter of the class derived from this one. */
  constructor(resolve, limits) {
    this.resolve = resolve
    this.limits = limits // null where there are none
  }

  get priority() {
    return this.limits === null ? 0 : this.limits.priority
  }

  get weight() {
    return this.limits === null ? 1 : this.limits.weight
  }

  /** By a thenable that rejects: to keep the promise's own function would cost each waiter without limits 64 bytes. */
  reject(reason) {
    if (this.limits !== null && this.limits.reject !== undefined) {
      this.limits.reject(reason)
      return
    }
    this.resolve({
      // biome-ignore lint/suspicious/noThenProperty: to be one is what it is for
      then(_, reject) {
        reject(reason)
      },
    })
  }

  /** The wait is over, however it went. */
  end() {
    if (this.limits !== null) this.limits.end()
  }
}

/** A waiter in a queue of this thread (wait_queue.js). */
class Waiter extends AnyWaiter {
  constructor(resolve, limits) {
    super(resolve, limits)
    this.previous = null
    this.next = null
  }
}

/** How long a waiter waits, and what it asks for. */
class Limits {
  /** An observer must know it. */
  timer = undefined
  /** The promise's own, where it may be needed soon. */
  reject = undefined
  #listening
  #onAbort

  constructor(weight, priority) {
    this.weight = weight
    this.priority = priority
    this.isOver = false
  }

  /** `giveUp(reason)` takes the waiter out of its queue; `late(timeout)` makes the reason of a timeout. */
  begin({ timeout, signal }, giveUp, late) {
    // A signal that calls back twice, or a timer that cannot be cleared: the wait is over already.
    const end = (reason) => {
      if (!this.isOver) giveUp(reason)
    }
    try {
      if (timeout !== undefined && timeout <= longestTimeout) {
        this.timer = globalThis.setTimeout(() => end(late(timeout)), timeout)
      }
      // A clock that fires at once has ended it.
      if (signal === undefined || this.isOver) return
      this.#onAbort = () => end(signal.reason)
      const listening = listen(signal, this.#onAbort)
      // A signal of another make may have called back at once.
      if (this.isOver) listening.stop(this.#onAbort)
      else this.#listening = listening
    } catch (error) {
      // A signal or a clock that is not what it seems.
      end(error)
    }
  }

  end() {
    this.isOver = true
    try {
      if (this.timer !== undefined) globalThis.clearTimeout(this.timer)
      if (this.#listening !== undefined) this.#listening.stop(this.#onAbort)
    } catch (error) {
      // A signal of strange make must not hold up the waiters that are admitted, or give up, with this one.
      process.nextTick(() => {
        throw error
      })
    }
  }
}

Object.assign(AnyWaiter.prototype, {
  /** How it wants the lock: shared or exclusive, or undefined for units of a semaphore. */
  mode: 'exclusive',
  /** Whether cancel() leaves it alone. */
  isToStay: false,
  /** Whether it waits for a mutex to be free, and does not hold it then: see lent_mutex.js. */
  isPassing: false,
  /** What an observer knows of it. */
  wait: undefined,
})

module.exports = { AnyWaiter, Limits, Waiter }
