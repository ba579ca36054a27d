'use strict'
// The stack of a call. The frames are captured at once, and turned into text when they are read.
const { callersIn, capture } = require('../core/sites.js')

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
    this.#text = callersIn(this)
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

module.exports = { Trace }
