'use strict'
// One hold of a lock of scope host with a `maxHold` or a `minHold`. A mutex has one object for its holds, one after the
// other.
const { clearTimeout, setTimeout } = require('../core/builtins.js')
const { lostError } = require('../core/caused_errors.js')
const { lockError } = require('../core/errors.js')
const { LazySignal } = require('../core/lazy_signal.js')
const { longestTimeout } = require('../core/options.js')
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

  /** After `maxHold`, aborts the holder's signal, then calls `end()`, which ends the hold. */
  begin(end) {
    this.stop()
    this.#signal = new LazySignal()
    if (this.#maxHold === Infinity) return
    const timer = setTimeout(() => {
      this.#signal.abort(this.#lost(`it was held for longer than maxHold, ${this.#maxHold} ms`))
      // A listener may have released it, and another caller may hold the lock by now.
      if (this.#timer === timer) end()
    }, this.#maxHold)
    this.#timer = timer
    // Only waiters keep the event loop alive.
    timer.unref()
  }

  /** Whether the timer of maxHold keeps the event loop alive. */
  keepAlive(isWaitedFor) {
    if (isWaitedFor) this.#timer?.ref()
    else this.#timer?.unref()
  }

  stop() {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  // The methods that HoldSignal needs: hold_signal.js.

  signal() {
    return this.#signal.signal
  }

  lateSignal() {
    return AbortSignal.abort(this.#lost('its grant is over'))
  }

  #lost(why) {
    return lostError(this.#lock.title(), why)
  }
}

/** Calls back at time `until` of the machine's monotonic clock. Its timer does not keep the process alive. */
function at(until, callBack) {
  const left = Math.ceil(until - now())
  if (left <= 0) callBack()
  else setTimeout(() => at(until, callBack), Math.min(left, longestTimeout)).unref()
}

/**
 * Awaits `again(left)` for a caller that has met what a dead holder left behind, and has to acquire `lock` again. The
 * caller is pending meanwhile. `left()` returns its limits for an attempt, with what is left of its time since `start`.
 */
async function retrying(lock, limits, start, again) {
  const { timeout } = limits
  const timeLeft = () => timeout && Math.max(0, start + timeout - now())
  // It is one of the pending callers already.
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
 * `promise` of onIdle() of a lock with these times. The timer of a maxHold keeps no event loop alive, but here a caller
 * waits for it.
 */
const untilIdle = (promise, { maxHold = Infinity } = {}) =>
  maxHold === Infinity ? promise : keepAlive.during(promise)

/** The error of blocking calls: timers do not run on a blocked thread. */
function blockedError(lock) {
  const message = `${lock.title()} has a maxHold or a minHold, whose timers need the event loop of this thread: use a method that returns a promise`
  return lockError('ERR_LOCK_UNSUPPORTED', message)
}

module.exports = { at, blockedError, retrying, TimedHold, untilIdle }
