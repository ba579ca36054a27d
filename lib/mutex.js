'use strict'
const { isSharedArrayBuffer } = require('node:util').types
const { checkMayBlock, checkOptions, mayBlock } = require('./arguments.js')
const native = require('./load.js')

const wordBytes = Int32Array.BYTES_PER_ELEMENT

class Mutex {
  // An Int32Array of one element: the whole state of the mutex, wherever it is looked at from.
  #word
  #mayBlock

  constructor(options = {}) {
    checkOptions(options)
    const {
      buffer = new SharedArrayBuffer(wordBytes),
      byteOffset = 0,
      allowBlockingMainThread = false,
    } = options
    this.#mayBlock = mayBlock(allowBlockingMainThread)
    this.#word = wordIn(buffer, byteOffset)
  }

  get buffer() {
    return this.#word.buffer
  }

  get byteOffset() {
    return this.#word.byteOffset
  }

  lockSync(options = {}) {
    checkMayBlock(this.#mayBlock, 'lockSync')
    checkOptions(options)
    const { timeout } = options
    if (!native.mutexLock(this.#word, 0, timeout)) {
      const error = new Error(`the mutex could not be locked within ${timeout} ms`)
      error.code = 'ERR_LOCK_TIMEOUT'
      throw error
    }
  }

  tryLock() {
    return native.mutexTryLock(this.#word, 0)
  }

  unlock() {
    native.mutexUnlock(this.#word, 0)
  }

  isLocked() {
    return native.mutexIsLocked(this.#word, 0)
  }
}

function wordIn(buffer, byteOffset) {
  if (!isSharedArrayBuffer(buffer)) throw new TypeError('buffer must be a SharedArrayBuffer')
  if (typeof byteOffset !== 'number') throw new TypeError('byteOffset must be a number')
  const last = buffer.byteLength - wordBytes
  if (last < 0) throw new RangeError(`buffer must have room for ${wordBytes} bytes`)
  // Written so that NaN and fractions fail, too.
  if (!(byteOffset >= 0 && byteOffset <= last && byteOffset % wordBytes === 0)) {
    throw new RangeError(`byteOffset must be a multiple of ${wordBytes} from 0 to ${last}`)
  }
  return new Int32Array(buffer, byteOffset, 1)
}

module.exports = { Mutex }
