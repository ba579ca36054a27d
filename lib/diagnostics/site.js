'use strict'
// Whether user code settles a promise by hand: `new Promise()` or Promise.withResolvers(). All other promises come from
// async functions, then(), or functions that combine promises, which settle them. The frames are captured when the
// promise is made, and examined when a chain may wait for it.
const { capture, sitesIn } = require('../core/sites.js')

/** Enough for the frames of async_hooks and the frame that makes the promise. */
const mostFrames = 6
const hooks = 'node:internal/async_hooks'

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
  // Built-in functions have no file.
  if (site === undefined || site.getFileName()) return false
  const name = site.getFunctionName()
  return (name === 'Promise' && site.isConstructor()) || name === 'withResolvers'
}

module.exports = { byHand, Site }
