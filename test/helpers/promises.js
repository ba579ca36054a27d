'use strict'
const assert = require('node:assert/strict')

/** Everything that has been promised for now has happened. */
function turn() {
  return new Promise((resolve) => setImmediate(resolve))
}

/** What has become of `promise`: { state, value, reason }, up to date after each turn. */
function watch(promise) {
  const seen = { state: 'pending', value: undefined, reason: undefined }
  promise.then(
    (value) => Object.assign(seen, { state: 'resolved', value }),
    (reason) => Object.assign(seen, { state: 'rejected', reason }),
  )
  return seen
}

/** Notes in `log` when `promise` settles, as `name`, or as `name!` when it is rejected. */
function note(log, name, promise) {
  return promise.then(
    (value) => {
      log.push(name)
      return value
    },
    () => {
      log.push(`${name}!`)
    },
  )
}

/** Nobody holds `lock`, and nobody waits for it. */
async function assertIdle(lock) {
  assert.equal(lock.isLocked(), false)
  const seen = watch(lock.waitForUnlock())
  await turn()
  assert.equal(seen.state, 'resolved', 'somebody waits')
}

module.exports = { assertIdle, note, turn, watch }
