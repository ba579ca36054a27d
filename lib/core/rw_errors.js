'use strict'
// Errors of read-write locks of any scope; `lock` has a title().
const { lockError } = require('./errors.js')

function upgradeError(lock) {
  const message = `another reader of ${lock.title()} is upgrading: release the read, then acquire to write`
  return lockError('ERR_LOCK_UPGRADE', message)
}

/** The error of a blocking call that would wait for its own thread. */
function deadlockError(lock) {
  const message = `${lock.title()} waits for what this thread holds: blocking here would deadlock. Release that first, or wait with a promise`
  return lockError('ERR_LOCK_DEADLOCK', message)
}

function endedError(lock) {
  return lockError(
    'ERR_LOCK_NOT_HELD',
    `this releaser of ${lock.title()} has been released: acquire again`,
  )
}

module.exports = { deadlockError, endedError, upgradeError }
