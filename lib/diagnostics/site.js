'use strict'
// Whether user code settles a promise by hand: `new Promise()` or Promise.withResolvers(). All other promises come from
// async functions, then(), or functions that combine promises, which settle them. The frames are captured when the
// promise is made, and examined when a chain may wait for it.

/** The frames of async_hooks, and the one that makes the promise. */
const mostFrames = 6
const hooks = 'node:internal/async_hooks'
const sitesOf = (_, sites) => sites

class Site {
  /** The site of the promise that is being made, in `init` of a hook. */
  constructor(init) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = mostFrames
    Error.captureStackTrace(this, init)
    Error.stackTraceLimit = stackTraceLimit
  }

  isByHand() {
    this.answer ??= isMaker(this.#sites().find((site) => site.getFileName() !== hooks))
    return this.answer
  }

  #sites() {
    const { prepareStackTrace } = Error
    Error.prepareStackTrace = sitesOf
    try {
      return this.stack
    } finally {
      Error.prepareStackTrace = prepareStackTrace
    }
  }
}

/** The site of a promise whose frames are unknown. */
const byHand = { isByHand: () => true }

function isMaker(site) {
  // Built-in functions have no file.
  if (site === undefined || site.getFileName()) return false
  const name = site.getFunctionName()
  return (name === 'Promise' && site.isConstructor()) || name === 'withResolvers'
}

module.exports = { byHand, Site }
