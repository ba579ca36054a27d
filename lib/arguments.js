'use strict'
// What all locks check of their options.
const { isMainThread } = require('node:worker_threads')

function checkOptions(options) {
  if (options === null || typeof options !== 'object') {
    throw new TypeError('options must be an object')
  }
}

/** Whether a lock with this option may block the thread that we are on. */
function mayBlock(allowBlockingMainThread) {
  if (typeof allowBlockingMainThread !== 'boolean') {
    throw new TypeError('allowBlockingMainThread must be a boolean')
  }
  return allowBlockingMainThread || !isMainThread
}

/** `method` is about to block: it throws unless mayBlock said that it may. */
function checkMayBlock(may, method) {
  if (may) return
  throw new TypeError(
    `${method}() would block the main thread and every promise on it; ` +
      'wait in a worker, or pass { allowBlockingMainThread: true }',
  )
}

module.exports = { checkOptions, mayBlock, checkMayBlock }
