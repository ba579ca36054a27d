'use strict'
// The frames of a stack. Error may be frozen (--frozen-intrinsics, SES), or lack what only V8 has: then there are as
// many frames as its own limit allows, or none.

/** Gives `target` a `stack` of at most `most` frames, without those of `below` and what it called. */
function capture(target, below, most) {
  const { stackTraceLimit } = Error
  // An assignment would throw where the property is read-only.
  const isSet = Reflect.set(Error, 'stackTraceLimit', most)
  try {
    Error.captureStackTrace?.(target, below)
  } finally {
    if (isSet) Error.stackTraceLimit = stackTraceLimit
  }
}

const sitesOf = (_, sites) => sites

/** The call sites in the `stack` of `target`, which has not been read yet. Undefined if Error does not give them. */
function sitesIn(target) {
  const { prepareStackTrace } = Error
  const isSet = Reflect.set(Error, 'prepareStackTrace', sitesOf)
  try {
    const sites = target.stack
    return Array.isArray(sites) ? sites : undefined
  } finally {
    if (isSet) Error.prepareStackTrace = prepareStackTrace
  }
}

module.exports = { capture, sitesIn }
