'use strict'
// Whether a promise is made by somebody who settles it by hand: `new Promise()` or Promise.withResolvers(). All others
// are made by async functions, by then(), or by what combines promises, and these settle them. The frames are taken
// when it is made, and looked at when a chain may wait for it.

/** Those of async_hooks, and the one that makes the promise. */
const mostFrames = 6
const hooks = 'node:internal/async_hooks'
const sitesOf = (_, sites) => sites

class Site {
  /** Of the promise that is being made, in `init` of a hook. */
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

/** Of a promise of which it is not known. */
const byHand = { isByHand: () => true }

function isMaker(site) {
  // What is a part of the language is in no file.
  if (site === undefined || site.getFileName()) return false
  const name = site.getFunctionName()
  return (name === 'Promise' && site.isConstructor()) || name === 'withResolvers'
}

module.exports = { byHand, Site }
