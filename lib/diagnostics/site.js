'use strict'
// Whether a promise is settled by hand, and not by reactions to promises: `new Promise()`, Promise.withResolvers(),
// Atomics.waitAsync(), and Promise.resolve() of a thenable, which would have settled any other promise at once. All other
// promises come from async functions, then(), or functions that combine promises. The frames are captured when the promise
// is made, and examined when a chain may wait for it.
const { capture, sitesIn } = require('../core/sites.js')

/** Enough for the frames of async_hooks and the frame that makes the promise. */
const mostFrames = 6
const hooks = 'node:internal/async_hooks'
/** Runs microtasks, and so calls thenables. */
const taskQueues = 'node:internal/process/task_queues'
/**
 * The built-in functions whose promises only reactions settle. Not next() of an async generator: the reactions of an
 * earlier next() may settle its promise, which were made elsewhere. Nor Array.fromAsync(), whose items may be thenables.
 */
const settledByReactions = new Set(['all', 'allSettled', 'any', 'race', 'reject', 'then', 'try'])

class Site {
  /** The site of the promise that is being made, in `init` of a hook. */
  constructor(init) {
    capture(this, init, mostFrames)
  }

  isByHand() {
    this.answer ??= isMaker(sitesIn(this))
    return this.answer
  }
}

/** The site of the reaction that is being made, in a run that calls a thenable for a promise. */
class Adoption extends Site {
  isByHand() {
    this.answer ??= !isOnlyThen(sitesIn(this))
    return this.answer
  }
}

/** The site that settles a promise, in `promiseResolve` of a hook: the end of an async function, or a call. */
class Ending extends Site {
  isByHand() {
    this.answer ??= !isEnd(sitesIn(this))
    return this.answer
  }
}

/** Whether no built-in function was called: resolve() and reject() have a frame, and the end of a function has none. */
function isEnd(sites) {
  const site = sites?.find((one) => one.getFileName() !== hooks)
  return site !== undefined && !isBuiltIn(site) && !site.isAsync()
}

/** Whether the thenable is a promise: then Promise.prototype.then() was called by no code. */
function isOnlyThen(sites) {
  if (sites === undefined) return false
  // V8 14 also shows the frame of a function that awaits the promise. That function calls nothing now.
  const [site, caller] = sites.filter((one) => one.getFileName() !== hooks && !one.isAsync())
  const isThen = isBuiltIn(site) && site.getFunctionName() === 'then'
  return isThen && (caller === undefined || caller.getFileName() === taskQueues)
}

/** The prototype of all promises of async functions. `Promise` may be replaced. */
const promises = Object.getPrototypeOf((async () => {})())
/** Whether `promise` is of a subclass. */
const isDerived = (promise) => Object.getPrototypeOf(promise) !== promises

/** The site of a promise whose frames are unknown. */
const byHand = { isByHand: () => true }

/** Without call sites the promise is assumed to be settled by hand. */
function isMaker(sites) {
  if (sites === undefined) return true
  const site = sites.find((one) => one.getFileName() !== hooks)
  return isBuiltIn(site) && !settledByReactions.has(site.getFunctionName())
}

/** Built-in functions have no file. Nor has code of eval(). */
const isBuiltIn = (site) => site !== undefined && !site.getFileName() && !site.isEval()

module.exports = { Adoption, byHand, Ending, isDerived, Site }
