'use strict'
// Where a call came from. The frames are taken at once, and made text when somebody reads them.
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const { isBundled } = require('../bundle_advice.js')

const root = path.join(__dirname, '..') + path.sep
// In a bundle nothing tells ours from the caller's.
const places = isBundled ? [] : [root, pathToFileURL(root).href]
/** Enough for those of our own on top, and what people look for below. */
const mostFrames = 24

class Trace {
  #text

  constructor() {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = mostFrames
    Error.captureStackTrace(this, Trace)
    Error.stackTraceLimit = stackTraceLimit
  }

  get text() {
    if (this.#text === undefined) {
      this.#text = withoutOurs(`${this.stack}`)
      this.stack = ''
    }
    return this.#text
  }

  /** `error`, made where a timer or a socket led, gets this stack. It must be of one caller only. */
  moveTo(error) {
    error.stack = `${error.name}: ${error.message}\n${this.text}`
  }
}

/** The lines of callers: neither the heading nor the frames of this package. */
function withoutOurs(stack) {
  const frames = stack.split('\n').slice(1)
  return frames.filter((frame) => !places.some((place) => frame.includes(place))).join('\n')
}

module.exports = { Trace }
