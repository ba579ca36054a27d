'use strict'
// Whether a promise is settled by hand, and not by reactions to promises: `new Promise()`, Promise.withResolvers(),
// Atomics.waitAsync(). All other promises come from async functions, then(), or functions that combine promises. The
// frames are captured when the promise is made, and examined when a chain may wait for it.
const { capture, sitesIn } = require('../core/sites.js')

/** Enough for the frames of async_hooks and the frame that makes the promise. */
const mostFrames = 6
const hooks = 'node:internal/async_hooks'
/**
 * The built-in functions whose promises only reactions settle. Not next() of an async generator: the reactions of an
 * earlier next() may settle its promise, which were made elsewhere.
 */
const settledByReactions = new Set([
  'all',
  'allSettled',
  'any',
  'fromAsync',
  'race',
  'reject',
  'resolve',
  'then',
  'try',
])

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

/** The site of a promise whose frames are unknown. */
const byHand = { isByHand: () => true }

/** Without call sites the promise is assumed to be settled by hand. */
function isMaker(sites) {
  if (sites === undefined) return true
  const site = sites.find((one) => one.getFileName() !== hooks)
  // Built-in functions have no file. Nor has code of eval().
  if (site === undefined || site.getFileName() || site.isEval()) return false
  return !settledByReactions.has(site.getFunctionName())
}

module.exports = { byHand, Site }
