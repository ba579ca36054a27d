'use strict'
const assert = require('node:assert/strict')

/** Resolves when all microtasks have run. */
function turn() {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Resolves when `lock` has `count` waiters, of any threads: a blocked thread cannot report its wait. */
async function queued(lock, count = 1) {
  while (lock.snapshot().waiting < count) await turn()
}

/** The state of `promise`: { state, value, reason }, up to date after each turn. */
function watch(promise) {
  const seen = { state: 'pending', value: undefined, reason: undefined }
  promise.then(
    (value) => Object.assign(seen, { state: 'resolved', value }),
    (reason) => Object.assign(seen, { state: 'rejected', reason }),
  )
  return seen
}

/** Appends `name` to `log` when `promise` resolves, or `name!` when it rejects. */
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

/** `lock` is free, and has no waiter. */
async function assertIdle(lock) {
  assert.equal(lock.isLocked(), false)
  const seen = watch(lock.waitForUnlock())
  await turn()
  assert.equal(seen.state, 'resolved', 'it has a waiter')
}

module.exports = { assertIdle, note, queued, turn, watch }
