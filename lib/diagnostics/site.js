'use strict'
// Finds out whether code settles a promise by hand, and not by reactions to promises. That is so for `new Promise()`,
// Promise.withResolvers(), Atomics.waitAsync(), and Promise.resolve() of a thenable that is not a promise. All other
// promises come from async functions, then(), or functions that combine promises. The frames are captured when the
// promise is made, and examined when a chain may wait for it.
const { capture, sitesIn } = require('../core/sites.js')

/** Enough for the frames of async_hooks and the frame that makes the promise. */
const mostFrames = 6
const hooks = 'node:internal/async_hooks'
/** Runs microtasks, and so calls thenables. */
const taskQueues = 'node:internal/process/task_queues'
/**
 * The built-in functions whose promises only reactions settle. next() of an async generator is not one of them, because
 * reactions to an earlier next(), made elsewhere, may settle its promise. Nor is Array.fromAsync(), whose items may be
 * thenables.
 */
const settledByReactions = new Set(['all', 'allSettled', 'any', 'race', 'reject', 'then', 'try'])

class Site {
  /** Captures the site of the promise that is being made. `init` is the running function of the hook. */
  constructor(init) {
    capture(this, init, mostFrames)
  }

  isByHand() {
    this.answer ??= isMaker(sitesIn(this))
    return this.answer
  }
}

/** The site of the reaction that is being made while a run calls then() of a thenable. */
class Adoption extends Site {
  isByHand() {
    this.answer ??= !isOnlyThen(sitesIn(this))
    return this.answer
  }
}

/** The site that settles a promise: the end of an async function, or a call of resolve() or reject(). */
class Ending extends Site {
  isByHand() {
    this.answer ??= !isEnd(sitesIn(this))
    return this.answer
  }
}

/** Whether a function has ended. resolve() and reject() would have a frame of a built-in function. */
function isEnd(sites) {
  const site = sites?.find((one) => one.getFileName() !== hooks)
  return site !== undefined && !isBuiltIn(site) && !site.isAsync()
}

/** Whether the thenable is a promise, so that the engine itself has called Promise.prototype.then(). */
function isOnlyThen(sites) {
  if (sites === undefined) return false
  // V8 14 also shows an async frame, of a function that awaits the promise and is not running.
  const [site, caller] = sites.filter((one) => one.getFileName() !== hooks && !one.isAsync())
  const isThen = isBuiltIn(site) && site.getFunctionName() === 'then'
  return isThen && (caller === undefined || caller.getFileName() === taskQueues)
}

/** The prototype of all promises of async functions. A program may have replaced `Promise`. */
const promises = Object.getPrototypeOf((async () => {})())
/** Whether `promise` is of a subclass. */
const isDerived = (promise) => Object.getPrototypeOf(promise) !== promises

/** The site of a promise whose frames are unknown. */
const byHand = { isByHand: () => true }

/** Whether `sites` begin with a function whose promises code settles by hand. Assumed without call sites. */
function isMaker(sites) {
  if (sites === undefined) return true
  const site = sites.find((one) => one.getFileName() !== hooks)
  return isBuiltIn(site) && !settledByReactions.has(site.getFunctionName())
}

/** Built-in functions have no file. Code of eval() has none either. */
const isBuiltIn = (site) => site !== undefined && !site.getFileName() && !site.isEval()

module.exports = { Adoption, byHand, Ending, isDerived, Site }
