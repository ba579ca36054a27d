'use strict'
// What goes wrong between reading and writing, of whatever scope; `lock` has a title().
const { lockError } = require('./errors.js')

function upgradeError(lock) {
  const message = `another reader of ${lock.title()} is upgrading: let go, and lock it for writing`
  return lockError('ERR_LOCK_UPGRADE', message)
}

function endedError(lock) {
  return lockError('ERR_LOCK_NOT_HELD', `this releaser of ${lock.title()} has let go`)
}

module.exports = { endedError, upgradeError }
