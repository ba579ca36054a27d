'use strict'
const assert = require('node:assert/strict')
const { RWLock } = require('../..')

/** A new lock with these options for each test, which `use(lock)` gets. Any test leaves it idle. */
function withNewLock(use, options) {
  let lock
  beforeEach(() => {
    lock = new RWLock(options)
    use(lock)
  })
  afterEach(() => {
    assert.deepEqual([lock.isLocked(), lock.isWriteLocked(), lock.readers], [false, false, 0])
    const writer = lock.tryAcquireWrite()
    assert.ok(writer, 'it has a waiter')
    writer()
  })
}

module.exports = { withNewLock }
