'use strict'
// engine.ready(): opens the session of an engine before its first lock.
const { listen, reasonOf, throwIfAborted } = require('../core/abort.js')
const { isLockError } = require('../core/errors.js')
const { longestTimeout } = require('../core/options.js')
const { startError, unreadyError } = require('./errors.js')
const { inTime } = require('./patience.js')
const { longestStart } = require('./start.js')

/**
 * Resolves when `hub` can grant a lock and its thread can renew the session. Rejects when an attempt to open one fails.
 */
async function ready(hub, { timeout = longestStart, signal }) {
  throwIfAborted(signal)
  const late = () => startError(hub.name, timeout, hub.trouble)
  const limits = { clock: hub.clock, isToStay: true }
  let stop
  try {
    const opening = new Promise((resolve, reject) => {
      const onAbort = () => reject(reasonOf(signal))
      const listening = signal && listen(signal, onAbort)
      stop = () => listening?.stop(onAbort)
      Promise.resolve(hub.open(true)).then(resolve, reject)
    })
    await inTime(opening, Math.min(timeout, longestTimeout), late, limits)
  } catch (error) {
    const isFinal = isLockError(error) || (signal?.aborted && error === reasonOf(signal))
    throw isFinal ? error : unreadyError(hub.name, error)
  } finally {
    stop?.()
  }
}

module.exports = { ready }
