'use strict'
// Call sites: the frames of a stack. If Error is frozen (--frozen-intrinsics, SES), there are as many frames as its own
// limit allows. Outside V8 there may be none.

/** Sets a property of Error. Returns false if a program has made it read-only, or has given it a setter that throws. */
function set(name, value) {
  try {
    return Reflect.set(Error, name, value)
  } catch {
    return false
  }
}

/** Gives `target` a `stack` of at most `most` frames: those of the callers of the function `below`. */
function capture(target, below, most) {
  const { stackTraceLimit } = Error
  const isSet = set('stackTraceLimit', most)
  try {
    Error.captureStackTrace?.(target, below)
  } finally {
    if (isSet) Error.stackTraceLimit = stackTraceLimit
  }
}

const sitesOf = (_, sites) => sites

/** Returns the call sites in the `stack` of `target`, which no code has read before. Undefined if Error has none. */
function sitesIn(target) {
  const { prepareStackTrace } = Error
  const isSet = set('prepareStackTrace', sitesOf)
  try {
    const sites = target.stack
    return Array.isArray(sites) ? sites : undefined
  } finally {
    if (isSet) Error.prepareStackTrace = prepareStackTrace
  }
}

/** Returns the `stack` of `target` as text, or '' if the program's own Error.prepareStackTrace throws. */
function textIn(target) {
  try {
    return `${target.stack ?? ''}`
  } catch {
    return ''
  }
}

/** Finds the folder of this package in the frame of this file. In a bundle it does not match. */
const here = /([^\s(]*)core[/\\]sites\.js:\d+:\d+\)?$/

const framesIn = (target) => textIn(target).split('\n').slice(1)

/** Returns the folder of this package as frames name it. Undefined in a bundle. */
function ownFolder() {
  const holder = {}
  capture(holder, undefined, 1)
  return framesIn(holder)
    .map((frame) => here.exec(frame)?.[1])
    .find((folder) => folder !== undefined)
}

/**
 * Returns the frames in the `stack` of `target` as text, without those of this package and the inner ones of Node.js.
 * In a bundle those of this package stay.
 */
function callersIn(target) {
  const ours = ownFolder()
  const isOurs = (frame) =>
    frame.includes('node:internal/') || (ours !== undefined && frame.includes(ours))
  return framesIn(target)
    .filter((frame) => !isOurs(frame))
    .join('\n')
}

/** Enough for the frames of this package and some of its caller's. */
const mostFrames = 16

/** Returns the stack of the caller as text, without the frames of this package and the inner ones of Node.js. */
function callSite() {
  const holder = {}
  capture(holder, callSite, mostFrames)
  return callersIn(holder)
}

module.exports = { callersIn, callSite, capture, sitesIn, textIn }
