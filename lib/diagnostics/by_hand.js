'use strict'
// Whether a promise is made by somebody who settles it by hand: `new Promise()` or Promise.withResolvers(). All others
// are made by async functions, by then(), or by what combines promises, and these settle them.

/** Those of async_hooks, and the one that makes the promise. */
const mostFrames = 6
const hooks = 'node:internal/async_hooks'
const sitesOf = (_, sites) => sites

/** Of the promise that is being made, when asked by `init` of a hook. */
function isByHand(init) {
  const { prepareStackTrace, stackTraceLimit } = Error
  const at = {}
  let sites
  try {
    Error.stackTraceLimit = mostFrames
    Error.prepareStackTrace = sitesOf
    Error.captureStackTrace(at, init)
    sites = at.stack
  } finally {
    Error.stackTraceLimit = stackTraceLimit
    Error.prepareStackTrace = prepareStackTrace
  }
  return isMaker(sites.find((site) => site.getFileName() !== hooks))
}

function isMaker(site) {
  // What is a part of the language is in no file.
  if (site === undefined || site.getFileName()) return false
  const name = site.getFunctionName()
  return (name === 'Promise' && site.isConstructor()) || name === 'withResolvers'
}

module.exports = { isByHand }
