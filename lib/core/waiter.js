'use strict'
// The one way to wait: a promise in a queue. There may be very many waiters, so every field counts: fields that few need
// (a weight, a priority, a timer, a signal) are in their limits.
//
// A queue is the list of a lock of this thread (lock.js), or of C++ (process/waiters.js); the watchers of a lock, the
// callers of a flight, or those of a lease:
//
//   enqueue(waiter, ticket)        puts the waiter into the queue; tickets are those of C++
//   leave(waiter, reason)          takes it out, and rejects it
//   timeoutError(timeout, waiter)
//   observer                       that of the lock, or null: only for waiters that it counts
//   observeWait(waiter, promise)   tells the observer
//
// What may not wait never gets here: the lock refuses it before.
const { listen, reasonOf, throwLater } = require('./abort.js')
const { longestTimeout } = require('./options.js')

/** The base of waiters of every kind of queue. */
class AnyWaiter {
  /** `resolve` is the promise's; derived classes decide what it resolves to. */
  constructor(resolve, limits) {
    this.resolve = resolve
    this.limits = limits // null without limits
  }

  get priority() {
    return this.limits === null ? 0 : this.limits.priority
  }

  get weight() {
    return this.limits === null ? 1 : this.limits.weight
  }

  /**
   * Rejects by resolving with a thenable: keeping the promise's reject function would cost each
   * waiter without limits 64 bytes.
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
   * The waiter has the lock, or has left the queue. Called before an observer is told, whose callback may abort the
   * wait's signal.
   */
  markOver() {
    if (this.limits !== null) this.limits.isOver = true
  }

  /** The wait is over: granted, rejected or withdrawn. */
  end() {
    if (this.limits !== null) this.limits.end()
  }

  /** The waiter has left the queue, and no observer counts it. */
  giveUp(reason) {
    this.end()
    this.reject(reason)
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

/** A waiter that no observer counts. It rejects in the same microtask: see reject(). */
class UnobservedWaiter extends AnyWaiter {}

/** The limits of a wait, and what it asks for. */
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

  /** Makes `waiter` leave `queue` after `timeout`, or when `signal` aborts. */
  begin(queue, waiter, { timeout, signal }) {
    // Does nothing after the wait is over: a signal may call back twice, a replaced clock may not
    // cancel its timer.
    const end = (reason) => {
      if (!this.isOver) queue.leave(waiter, reason)
    }
    try {
      if (timeout !== undefined && timeout <= longestTimeout) {
        // A replaced clock may be replaced again before the end of the wait.
        const { clearTimeout, setTimeout } = globalThis
        this.#clear = clearTimeout
        this.timer = setTimeout(() => end(queue.timeoutError(timeout, waiter)), timeout)
      }
      // A replaced clock may have fired at once.
      if (signal === undefined || this.isOver) return
      this.#onAbort = () => end(reasonOf(signal))
      const listening = listen(signal, this.#onAbort)
      // A custom signal may have called back at once.
      if (this.isOver) listening.stop(this.#onAbort)
      else this.#listening = listening
    } catch (error) {
      // A signal or a clock that throws.
      end(error)
    }
  }

  end() {
    this.isOver = true
    const clearTimeout = this.#clear
    try {
      if (clearTimeout !== undefined) clearTimeout(this.timer)
      if (this.#listening !== undefined) this.#listening.stop(this.#onAbort)
    } catch (error) {
      // An error of a replaced clock must not keep other waiters from being admitted or rejected.
      throwLater(error)
    }
  }
}

/**
 * Gives the waiters of a class `traits` in common. The class has them as well, for a caller that has no waiter yet: V8 reads
 * a property of `Kind.prototype` six times as slowly.
 */
function setTraits(Kind, traits) {
  Object.assign(Kind, traits)
  Object.assign(Kind.prototype, traits)
}

setTraits(AnyWaiter, {
  /** The mode: shared, exclusive, or undefined for units of a semaphore. */
  mode: 'exclusive',
  /** Whether cancel() leaves the waiter alone. */
  isToStay: false,
  /**
   * Whether the waiter only waits for a mutex to be free, and never holds it: see lent_mutex.js.
   */
  isPassing: false,
  /** Whether it keeps the promise's own reject function, to reject in the same microtask: see reject(). */
  rejectsAtOnce: false,
  /** The observer's record of the wait. */
  wait: undefined,
})

setTraits(UnobservedWaiter, { isToStay: true, rejectsAtOnce: true })

// The executors of every promise: closures made once. Each function kept costs a write barrier of some 6 ns.
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
 * Returns a promise that waits in `queue`. `Kind`, a class of waiters, decides what it resolves to; `subject` is the extra
 * constructor argument of some kinds, and `ticket` that of enqueue().
 */
function wait(queue, Kind, weight, asked, subject, ticket) {
  const { priority, timeout, signal } = asked
  const isLimited = timeout !== undefined || signal !== undefined
  const limits = weight === 1 && priority === 0 && !isLimited ? null : new Limits(weight, priority)
  const isPrompt = isLimited || Kind.rejectsAtOnce
  const promise = new Promise(isPrompt ? keepBoth : keepResolve)
  // A listener of the program, which some constructors call, may wait as well.
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
