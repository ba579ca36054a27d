'use strict'
// Keeps blocking calls off the main thread.

// Loaded when a method blocks: node:worker_threads loads Node's streams, which cost more than all
// locks.
let isMainThread

/** Checks that `method` may block this thread: `may` says so, or it is not the main thread. */
function checkMayBlock(may, method) {
  if (may) return
  isMainThread ??= require('node:worker_threads').isMainThread
  if (!isMainThread) return
  throw new TypeError(
    `${method}() would block the main thread and every promise on it; ` +
      'wait in a worker, or pass { allowBlockingMainThread: true } to the constructor',
  )
}

module.exports = { checkMayBlock }
