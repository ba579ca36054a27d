'use strict'
// Where a call came from. The frames are captured at once, and turned into text when they are read.
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const { capture, textIn } = require('../core/sites.js')
const { isBundled } = require('../addon/bundle_advice.js')

const root = path.join(__dirname, '..') + path.sep
// In a bundle the package's frames cannot be told from the caller's.
const places = ['node:internal/', ...(isBundled ? [] : [root, pathToFileURL(root).href])]
/** Enough for the package's frames on top and the caller's frames below. */
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

  /** Gives `error`, which a timer or a socket has raised, this stack. The error must belong to one caller. */
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

/** The callers' lines, without the heading and the frames of this package and inside Node.js. */
function withoutOurs(stack) {
  const frames = stack.split('\n').slice(1)
  return frames.filter((frame) => !places.some((place) => frame.includes(place))).join('\n')
}

module.exports = { Trace }
