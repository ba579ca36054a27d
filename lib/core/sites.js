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

/**
 * Finds the folder of this package in the frame of this file. In a bundle it does not match: callersIn() returns all
 * frames.
 */
const here = /([^\s(]*)core[/\\]sites\.js:\d+:\d+\)?$/

/**
 * Returns the frames in the `stack` of `target` as text, without those of this package and the inner ones of Node.js.
 * They were captured with the frame of capture().
 */
function callersIn(target) {
  const frames = textIn(target).split('\n').slice(1)
  const ours = frames.map((frame) => here.exec(frame)?.[1]).find((folder) => folder !== undefined)
  const isOurs = (frame) =>
    frame.includes('node:internal/') || (ours !== undefined && frame.includes(ours))
  return frames.filter((frame) => !isOurs(frame)).join('\n')
}

/** Enough for the frames of this package and some of its caller's. */
const mostFrames = 16

/** Returns the stack of the caller as text, without the frames of this package and the inner ones of Node.js. */
function callSite() {
  const holder = {}
  capture(holder, undefined, mostFrames)
  return callersIn(holder)
}

module.exports = { callersIn, callSite, capture, sitesIn, textIn }
