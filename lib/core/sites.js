'use strict'
// The sites of calls: the frames of a stack. Error may be frozen (--frozen-intrinsics, SES), or lack what only V8 has:
// then there are as many frames as its own limit allows, or none.

/** Returns whether Error has the new value: a property of the program may be read-only, or have a setter that throws. */
function set(name, value) {
  try {
    return Reflect.set(Error, name, value)
  } catch {
    return false
  }
}

/** Gives `target` a `stack` of at most `most` frames, without those of `below` and what it called. */
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

/** The call sites in the `stack` of `target`, which has not been read yet. Undefined if Error does not give them. */
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

/** The `stack` of `target` as text; empty where the program's own Error.prepareStackTrace throws. */
function textIn(target) {
  try {
    return `${target.stack ?? ''}`
  } catch {
    return ''
  }
}

/** This is enough for the package's frames on top and the caller's frames below. */
const mostFrames = 16
/** Finds the package's folder in the frame of this file. In a bundle it finds none, and callSite() returns all frames. */
const here = /([^\s(]*)core[/\\]sites\.js:\d+:\d+\)?$/

/** The caller's lines of the stack, without the frames of this package and inside Node.js. */
function callSite() {
  const holder = {}
  capture(holder, undefined, mostFrames)
  const frames = textIn(holder).split('\n').slice(1)
  const ours = frames.map((frame) => here.exec(frame)?.[1]).find((folder) => folder !== undefined)
  const isOurs = (frame) =>
    frame.includes('node:internal/') || (ours !== undefined && frame.includes(ours))
  return frames.filter((frame) => !isOurs(frame)).join('\n')
}

module.exports = { callSite, capture, sitesIn, textIn }
