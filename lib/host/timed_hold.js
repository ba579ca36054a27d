'use strict'
// A hold of a lock of scope host with a `maxHold` or a `minHold`. A mutex uses one object for all its holds, one after
// the other.
const { clearTimeout, setTimeout } = require('../core/builtins.js')
const { lostError } = require('../core/caused_errors.js')
const { lockError } = require('../core/errors.js')
const { LazySignal } = require('../core/lazy_signal.js')
const { longestTimeout } = require('../core/options.js')
const { defineLazy, giveBackUndelivered } = require('../core/releaser.js')
const { releaserOf } = require('../core/run.js')
const { now } = require('../addon/load.js').clock
const { keepAlive } = require('../process/keep_alive.js')

/** The property of a releaser with its hold. */
const timed = Symbol('timed')

class TimedHold {
  #lock
  #maxHold
  #timer
  #signal
  /** The end of the minHold, on the machine's monotonic clock. */
  until = 0
  /** Whether the grant came before the minHold of a dead holder was over, so that its caller must acquire again. */
  isEarly = false

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

/** Whether a caller got `grant` before the minHold of a dead holder was over, and must acquire the lock again. */
const isEarly = (grant) => grant !== undefined && releaserOf(grant)[timed].isEarly

/**
 * Awaits acquire(limits), which acquires `lock`, and acquires again while the grant is early. Meanwhile the caller
 * counts as waiting. `pause(grant, limits)`, if there is one, awaits the end of that minHold first.
 */
async function acquireInTime(lock, limits, acquire, pause) {
  const { ifAvailable, timeout } = limits
  const start = now()
  let grant = await acquire(limits)
  if (!isEarly(grant)) return grant
  const timeLeft = () => timeout && Math.max(0, start + timeout - now())
  // The caller is already waiting, so `maxPending` does not apply again.
  const left = () => ({ ...limits, timeout: timeLeft(), maxPending: undefined })
  lock.shared.wait(lock, +1)
  try {
    while (isEarly(grant)) {
      giveBackUndelivered(releaserOf(grant))
      if (pause !== undefined && ifAvailable) return undefined
      await pause?.(grant, left())
      grant = await acquire(left())
    }
    return grant
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

module.exports = { acquireInTime, at, blockedError, isEarly, timed, TimedHold, untilIdle }
