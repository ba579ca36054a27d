'use strict'
// A hold of a lock of scope host with a `maxHold` or a `minHold`. A mutex uses one object for all its holds, one after
// the other.
const { clearTimeout, setTimeout } = require('../core/builtins.js')
const { lostError } = require('../core/caused_errors.js')
const { lockError } = require('../core/errors.js')
const { LazySignal } = require('../core/lazy_signal.js')
const { longestTimeout } = require('../core/options.js')
const { defineLazy } = require('../core/releaser.js')
const { now } = require('../addon/load.js').clock
const { keepAlive } = require('../process/keep_alive.js')

class TimedHold {
  #lock
  #maxHold
  #timer
  #signal
  /** The end of the minHold, on the machine's monotonic clock. */
  until = 0

  constructor(lock, { maxHold = Infinity }) {
    this.#lock = lock
    this.#maxHold = maxHold
  }

  /** Begins the hold. After `maxHold` it aborts the holder's signal, and calls end(), which ends the hold. */
  begin(end) {
    this.stop()
    this.#signal = new LazySignal()
    if (this.#maxHold === Infinity) return
    const timer = setTimeout(() => {
      this.#signal.abort(this.#lost(`it was held for longer than maxHold, ${this.#maxHold} ms`))
      // A listener may have released the lock, and another caller may hold it by now.
      if (this.#timer === timer) end()
    }, this.#maxHold)
    this.#timer = timer
    // Only waiters keep the event loop alive.
    timer.unref()
  }

  /** Makes the timer of maxHold keep the event loop alive while `isWaitedFor`. */
  keepAlive(isWaitedFor) {
    if (isWaitedFor) this.#timer?.ref()
    else this.#timer?.unref()
  }

  stop() {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /**
   * Adds a signal to `release`, the releaser of a grant of this hold. It aborts at the loss of the hold, before another
   * holder gets the lock. It is created on first use, and has aborted already if isGood() is false by then.
   */
  addSignal(release, isGood) {
    let signal
    const read = () => {
      signal ??= isGood() ? this.#signal.signal : AbortSignal.abort(this.#lost('its grant is over'))
      return signal
    }
    return defineLazy(release, 'signal', read)
  }

  #lost(why) {
    return lostError(this.#lock.title(), why)
  }
}

/** Calls `callBack` at time `until` of the machine's monotonic clock. Its timer does not keep the process alive. */
function at(until, callBack) {
  const left = Math.max(0, Math.ceil(until - now()))
  const timer = setTimeout(
    () => (until > now() ? at(until, callBack) : callBack()),
    Math.min(left, longestTimeout),
  )
  timer.unref()
}

/**
 * Awaits `again(left)`, which acquires `lock` again for a caller that got it before the minHold of a dead holder was
 * over. Meanwhile the caller counts as waiting. `left()` returns the caller's limits with the time that is left since
 * `start`.
 */
async function retrying(lock, limits, start, again) {
  const { timeout } = limits
  const timeLeft = () => timeout && Math.max(0, start + timeout - now())
  // The caller is already waiting, so `maxPending` does not apply again.
  const left = () => ({ ...limits, timeout: timeLeft(), maxPending: undefined })
  lock.shared.wait(lock, +1)
  try {
    return await again(left)
  } catch (error) {
    throw error?.code === 'ERR_LOCK_TIMEOUT' ? lock.timeoutError(timeout) : error
  } finally {
    lock.shared.wait(lock, -1)
    lock.changed()
  }
}

/**
 * Returns `promise`, the result of onIdle() for a lock with these times. Keeps the event loop alive until it resolves
 * if a maxHold will end the last hold, because the timer of a maxHold alone does not.
 */
const untilIdle = (promise, { maxHold = Infinity } = {}) =>
  maxHold === Infinity ? promise : keepAlive.during(promise)

/** The error of blocking calls: timers do not run on a blocked thread. */
function blockedError(lock) {
  const message = `${lock.title()} has a maxHold or a minHold, whose timers need the event loop of this thread: use a method that returns a promise`
  return lockError('ERR_LOCK_UNSUPPORTED', message)
}

module.exports = { at, blockedError, retrying, TimedHold, untilIdle }
