'use strict'
// The one way to wait: a promise in a queue. There may be very many waiters, so every field costs memory. Fields that
// few waiters need (a weight, a priority, a timer, a signal) are in a separate object, Limits.
//
// Queues are the waiters of a lock of this thread (lock.js) or of C++ (process/waiters.js), the watchers of a lock, and
// the callers of a SingleFlight or of a lease. Each has:
//
//   enqueue(waiter, ticket)        puts the waiter into the queue; `ticket` is that of C++
//   leave(waiter, reason)          takes the waiter out, and rejects it
//   timeoutError(timeout, waiter)  the error of a wait that has timed out
//   observer                       the observer of the lock, if it counts these waiters, or null
//   observeWait(waiter, promise)   tells the observer that the waiter waits
//
// A caller that may not wait never gets here: the lock rejects it first.
const { callSafely, listen, reasonOf } = require('./abort.js')
const { longestTimeout } = require('./options.js')
const { checkStack } = require('./stack.js')

class AnyWaiter {
  /** `resolve` is the resolve function of the promise. Derived classes decide what they resolve to. */
  constructor(resolve, limits) {
    this.resolve = resolve
    if (limits !== null) this.limits = limits
  }

  get priority() {
    return this.limits === null ? 0 : this.limits.priority
  }

  get weight() {
    return this.limits === null ? 1 : this.limits.weight
  }

  /**
   * Rejects the promise. Without limits it resolves with a thenable that rejects, because keeping the promise's reject
   * function would cost each waiter 64 bytes.
   */
  reject(reason) {
    if (this.limits?.reject !== undefined) {
      this.limits.reject(reason)
      return
    }
    this.resolve({
      // biome-ignore lint/suspicious/noThenProperty: it must be a thenable
      then(_, reject) {
        reject(reason)
      },
    })
  }

  /**
   * Marks a waiter that has the lock or has left the queue. Called before the observer's callback, which may abort the
   * wait's signal.
   */
  markOver() {
    if (this.limits !== null) this.limits.isOver = true
  }

  /** Drops the timer and the listener when the wait is over: granted, rejected or withdrawn. */
  end() {
    if (this.limits !== null) this.limits.end()
  }

  /** Rejects a waiter that has left the queue, and that no observer counts. */
  giveUp(reason) {
    this.end()
    this.reject(reason)
  }
}

/** A waiter in a queue of this thread (wait_queue.js). */
class Waiter extends AnyWaiter {
  constructor(resolve, limits) {
    super(resolve, limits)
    /** Its position in a ring of the queue. */
    this.position = 0
  }
}

/** A waiter that no observer counts. It rejects without a thenable, in the same microtask. */
class UnobservedWaiter extends AnyWaiter {}

/** The limits of a wait, with its weight and priority. */
class Limits {
  /** The timer of the timeout. Deadlock detection reads it, to leave it out of the caller's chain. */
  timer = undefined
  /** The clearTimeout() of the clock that made the timer. */
  #clear
  /** The promise's own reject function, for a wait with a timeout or a signal. */
  reject = undefined
  #listening
  #onAbort

  constructor(weight, priority) {
    this.weight = weight
    this.priority = priority
    this.isOver = false
  }

  /**
   * Makes `waiter` leave `queue` after `timeout`, or when `signal` aborts. Near the end of the stack the waiter stays in
   * the queue, because leaving might fail halfway: the waiter would be in no queue, and never settle.
   */
  begin(queue, waiter, { timeout, signal }) {
    // A signal may call back twice, and a replaced clock may fire a timer that was cleared.
    const end = (reason) => {
      if (!this.isOver) queue.leave(waiter, reason)
    }
    try {
      if (timeout !== undefined && timeout <= longestTimeout) {
        // A replaced clock may be replaced again before the end of the wait.
        const { clearTimeout, setTimeout } = globalThis
        this.#clear = clearTimeout
        this.timer = setTimeout(() => {
          checkStack()
          end(queue.timeoutError(timeout, waiter))
        }, timeout)
      }
      // A replaced clock may have fired at once.
      if (signal === undefined || this.isOver) return
      this.#onAbort = () => {
        checkStack()
        end(reasonOf(signal))
      }
      const listening = listen(signal, this.#onAbort)
      // A custom signal may have called back at once.
      if (this.isOver) listening.stop(this.#onAbort)
      else this.#listening = listening
    } catch (error) {
      // The signal or a replaced clock has thrown.
      end(error)
    }
  }

  end() {
    this.isOver = true
    if (this.#clear !== undefined) callSafely(this.#clear, this.timer)
    if (this.#listening !== undefined) this.#listening.stop(this.#onAbort)
  }
}

/**
 * Gives all waiters of class `Kind` the properties `traits`. The class itself has them, too, for callers without a
 * waiter: V8 takes six times as long to read them from `Kind.prototype`.
 */
function setTraits(Kind, traits) {
  Object.assign(Kind, traits)
  Object.assign(Kind.prototype, traits)
}

/** Most waiters have no limits, and a field of their own for them would cost each 8 bytes. */
AnyWaiter.prototype.limits = null

setTraits(AnyWaiter, {
  /** The mode: shared, exclusive, or undefined for units of a semaphore. */
  mode: 'exclusive',
  /** Whether the waiter survives cancel(). */
  isToStay: false,
  /**
   * Whether the waiter waits for a mutex to be free without acquiring it: see lent_mutex.js.
   */
  isPassing: false,
  /** Whether the waiter keeps the promise's reject function, and so rejects in the same microtask: see reject(). */
  rejectsAtOnce: false,
  /** The observer's record of the wait. */
  wait: undefined,
})

setTraits(UnobservedWaiter, { isToStay: true, rejectsAtOnce: true })

// The executors of all promises, made once. Each function that they store costs a write barrier of some 6 ns.
let lastResolve
let lastReject
const keepResolve = (resolve) => {
  lastResolve = resolve
}
const keepBoth = (resolve, reject) => {
  lastResolve = resolve
  lastReject = reject
}

/**
 * Returns a promise that waits in `queue`. `Kind`, a class of waiters, decides what it resolves to. `subject` is the
 * extra constructor argument of some kinds, `ticket` the argument of enqueue().
 */
function wait(queue, Kind, weight, asked, subject, ticket) {
  const { priority, timeout, signal } = asked
  const isLimited = timeout !== undefined || signal !== undefined
  const limits = weight === 1 && priority === 0 && !isLimited ? null : new Limits(weight, priority)
  const isPrompt = isLimited || Kind.rejectsAtOnce
  const promise = new Promise(isPrompt ? keepBoth : keepResolve)
  // Read it now: some constructors call a listener of the program, which may wait, too.
  const reject = lastReject
  const waiter = new Kind(lastResolve, limits, subject, queue)
  if (isLimited) limits.reject = reject
  else if (isPrompt) waiter.reject = reject
  lastResolve = undefined
  lastReject = undefined
  queue.enqueue(waiter, ticket)
  if (queue.observer !== null && !waiter.isToStay) queue.observeWait(waiter, promise)
  // The observer's callback may have ended the wait.
  if (isLimited && !limits.isOver) limits.begin(queue, waiter, asked)
  return promise
}

module.exports = { AnyWaiter, Limits, setTraits, UnobservedWaiter, wait, Waiter }
