'use strict'
// The stack of a call. The frames are captured at once, and turned into text when they are read.
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const { capture, textIn } = require('../core/sites.js')
const { isBundled } = require('../addon/bundle_advice.js')

const root = path.join(__dirname, '..') + path.sep
// In a bundle the package's frames cannot be told from the caller's.
const places = ['node:internal/', ...(isBundled ? [] : [root, pathToFileURL(root).href])]
/** Enough for the frames of this package and some of its caller's. */
const mostFrames = 24

class Trace {
  #text

  constructor() {
    capture(this, Trace, mostFrames)
  }

  get text() {
    this.read()
    return this.#text
  }

  /** Turns the frames into text. */
  read() {
    if (this.#text !== undefined) return
    this.#text = withoutOurs(textIn(this))
    this.stack = ''
  }

  /**
   * Replaces the stack of `error`, made in a timer or a socket's callback, by this one. The error must have one caller.
   */
  moveTo(error) {
    const value = `${error.name}: ${error.message}\n${this.text}`
    Object.defineProperty(error, 'stack', {
      __proto__: null,
      value,
      writable: true,
      configurable: true,
    })
  }
}

/** Returns the lines of the callers, without the heading, the frames of this package and the inner ones of Node.js. */
function withoutOurs(stack) {
  const frames = stack.split('\n').slice(1)
  return frames.filter((frame) => !places.some((place) => frame.includes(place))).join('\n')
}

module.exports = { Trace }
