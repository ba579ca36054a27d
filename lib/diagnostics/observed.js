'use strict'
// The calls of a lock's observer (docs/decisions/observer.md). An error of an observer must not leave a hold without a
// holder, or a waiter without its promise. So these functions catch it, and warn, and the lock goes on.
const { deadlocks } = require('./deadlock.js')
const { titleOf } = require('./title.js')

/** Reports the error in the next tick, because the stack may be exhausted now. */
function report(observer, error) {
  process.nextTick(tell, observer, error)
}

const tell = (observer, error) => observer.failed(error)

/** Returns the hold, or undefined if the observer has failed. */
function granted(observer, mode, units, waiter, isAbandoned, release, promise, limits) {
  try {
    return observer.granted(mode, units, waiter, isAbandoned, release, promise, limits)
  } catch (error) {
    report(observer, error)
    return undefined
  }
}

function ended(observer, hold, units) {
  try {
    observer.ended(hold, units)
  } catch (error) {
    report(observer, error)
  }
}

function waiting(observer, waiter, promise) {
  try {
    observer.waiting(waiter, promise)
  } catch (error) {
    report(observer, error)
  }
}

/** Returns a function that calls `step`, and returns its result, or undefined if the observer has failed. */
function reporting(step) {
  return (observer, a, b, c) => {
    try {
      return step(observer, a, b, c)
    } catch (error) {
      report(observer, error)
      return undefined
    }
  }
}

// The rarer calls. Those above are written out for their speed.
const blocked = reporting((observer, limits) => observer.blocked(limits))
const endedOldest = reporting((observer, units) => observer.endedOldest(units))
const gaveUp = reporting((observer, waiter, reason) => observer.gaveUp(waiter, reason))
const gave = reporting((observer, release, promise, limits) =>
  observer.gave(release, promise, limits),
)
const refused = reporting((observer, mode, units, reason) => observer.missed(mode, units, reason))
const timedOut = reporting((observer, waiter, error) => observer.timedOut(waiter, error))
const holdersOf = reporting((observer) => observer.describeHolders())

/** Reports that a closed lock has rejected a call of `method` with `args`. `kind` is the lock's class in messages. */
function refusedCall(observer, kind, method, args, reason) {
  if (kind === 'semaphore') return refused(observer, undefined, weightOf(args), reason)
  const mode = /^acquireRead|Shared/.test(method) ? 'shared' : 'exclusive'
  refused(observer, mode, 1, reason)
}

/** Returns the weight from the arguments of a semaphore's method: [callback,] weight or options. */
function weightOf(args) {
  const [given = 1] = args.filter((arg) => typeof arg !== 'function')
  try {
    return typeof given === 'number' ? given : (given?.weight ?? 1)
  } catch {
    return 1 // a getter has thrown
  }
}

/** Returns the message of the latest deadlock of this thread, if there was one. */
const latestDeadlock = () => deadlocks().at(-1)?.message

/** Returns the holders of the observer's lock as text. */
const describeHolders = (observer) => holdersOf(observer) ?? 'held by an unknown holder'

/**
 * Returns block(), which may block this thread. The observer may prevent that by throwing, for instance because of a
 * deadlock. An error after block() has acquired is only reported.
 */
function blocks(observer, lock, ask, limits, block, hold) {
  let result
  let isIn = false
  const blockOnce = () => {
    result = block()
    isIn = true
    return result
  }
  try {
    return observer.blocks(lock, ask, limits, blockOnce, hold)
  } catch (error) {
    if (!isIn) throw error
    report(observer, error)
    return result
  }
}

module.exports = {
  blocked,
  blocks,
  describeHolders,
  ended,
  endedOldest,
  gaveUp,
  gave,
  granted,
  latestDeadlock,
  refused,
  refusedCall,
  timedOut,
  titleOf,
  waiting,
}
