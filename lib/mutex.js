'use strict'
const { isSharedArrayBuffer } = require('node:util').types
const { isMainThread } = require('node:worker_threads')
const { MutexCore } = require('./mutex_core.js')
const { checkObject, checkTimeout, readCancelError } = require('./options.js')

class Mutex {
  #core
  #mayBlock

  constructor(options = {}) {
    const { cancelError, buffer, byteOffset, mayBlock } = readOptions(options)
    this.#core = new MutexCore()
    if (cancelError !== undefined) this.#core.cancelError = cancelError
    if (buffer !== undefined) this.#core.shareIn(buffer, byteOffset)
    this.#mayBlock = mayBlock
  }

  acquire(options) {
    return this.#core.acquire(options)
  }

  tryAcquire() {
    return this.#core.tryAcquire()
  }

  runExclusive(callback, options) {
    return this.#core.runExclusive(callback, options)
  }

  executeLocked(callback, options) {
    return this.#core.runExclusive(callback, options)
  }

  lock(options) {
    return this.#core.lock(options)
  }

  tryLock() {
    return this.#core.tryLock()
  }

  lockSync(options = {}) {
    checkMayBlock(this.#mayBlock, 'lockSync')
    checkObject(options)
    const { timeout = Infinity } = options
    checkTimeout(timeout)
    this.#core.lockSync(timeout)
  }

  unlock() {
    this.#core.unlock()
  }

  release() {
    this.#core.release()
  }

  waitForUnlock(options) {
    return this.#core.waitForUnlock(options)
  }

  isLocked() {
    return this.#core.isLocked()
  }

  cancel(reason) {
    this.#core.cancel(reason)
  }

  get buffer() {
    return this.#core.share().buffer
  }

  get byteOffset() {
    return this.#core.share().byteOffset
  }
}

function readOptions(given) {
  const cancelError = readCancelError(given)
  const { buffer, byteOffset = 0, allowBlockingMainThread = false } = given
  if (typeof allowBlockingMainThread !== 'boolean') {
    throw new TypeError('allowBlockingMainThread must be a boolean')
  }
  if (buffer !== undefined) checkPlace(buffer, byteOffset)
  const mayBlock = allowBlockingMainThread || !isMainThread
  return { cancelError, buffer, byteOffset, mayBlock }
}

function checkPlace(buffer, byteOffset) {
  if (!isSharedArrayBuffer(buffer)) throw new TypeError('buffer must be a SharedArrayBuffer')
  if (typeof byteOffset !== 'number') throw new TypeError('byteOffset must be a number')
  const { BYTES_PER_ELEMENT } = Int32Array
  const last = buffer.byteLength - BYTES_PER_ELEMENT
  if (last < 0) throw new RangeError(`buffer must have room for ${BYTES_PER_ELEMENT} bytes`)
  // Written so that NaN and fractions fail, too.
  if (!(byteOffset >= 0 && byteOffset <= last && byteOffset % BYTES_PER_ELEMENT === 0)) {
    throw new RangeError(`byteOffset must be a multiple of ${BYTES_PER_ELEMENT} from 0 to ${last}`)
  }
}

/** `method` is about to block this thread. */
function checkMayBlock(may, method) {
  if (may) return
  throw new TypeError(
    `${method}() would block the main thread and every promise on it; ` +
      'wait in a worker, or pass { allowBlockingMainThread: true }',
  )
}

module.exports = { Mutex }
