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
    if (this.answer === undefined) {
      const sites = sitesIn(this)?.filter((site) => site.getFileName() !== hooks)
      // Without call sites it is assumed.
      this.answer = sites === undefined || this.isHandIn(sites)
    }
    return this.answer
  }

  /** Whether `sites` begin with a function whose promises code settles by hand. */
  isHandIn([site]) {
    return isBuiltIn(site) && !settledByReactions.has(site.getFunctionName())
  }
}

/** The site of the reaction that is being made while a run calls then() of a thenable. */
class Adoption extends Site {
  /** Not so if the thenable is a promise, so that the engine itself has called Promise.prototype.then(). */
  isHandIn(sites) {
    // V8 14 also shows an async frame, of a function that awaits the promise and is not running.
    const [site, caller] = sites.filter((one) => !one.isAsync())
    const isThen = isBuiltIn(site) && site.getFunctionName() === 'then'
    return !isThen || (caller !== undefined && caller.getFileName() !== taskQueues)
  }
}

/** The site that settles a promise: the end of an async function, or a call of resolve() or reject(). */
class Ending extends Site {
  /** Not so if a function has ended. resolve() and reject() would have a frame of a built-in function. */
  isHandIn([site]) {
    return site === undefined || isBuiltIn(site) || site.isAsync()
  }
}

/** The prototype of all promises of async functions. A program may have replaced `Promise`. */
const promises = Object.getPrototypeOf((async () => {})())
const isDerived = (promise) => Object.getPrototypeOf(promise) !== promises

/** The site of a promise whose frames are unknown. */
const byHand = { isByHand: () => true }

/** Built-in functions have no file. Code of eval() has none either. */
const isBuiltIn = (site) => site !== undefined && !site.getFileName() && !site.isEval()

module.exports = { Adoption, byHand, Ending, isDerived, Site }
