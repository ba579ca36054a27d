'use strict'
const assert = require('node:assert/strict')
const { RWLock } = require('../..')

/** A lock with these options for each test, which `use(lock)` gets. Whatever a test does, nothing is left of it. */
function withNewLock(use, options) {
  let lock
  beforeEach(() => {
    lock = new RWLock(options)
    use(lock)
  })
  afterEach(() => {
    assert.deepEqual([lock.isLocked(), lock.isWriteLocked(), lock.readers], [false, false, 0])
    const writer = lock.tryAcquireWrite()
    assert.ok(writer, 'somebody waits')
    writer()
  })
}

module.exports = { withNewLock }
