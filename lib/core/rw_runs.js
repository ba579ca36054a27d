'use strict'
// The methods that read-write locks of all wider scopes share. The grant of a callback has `abandoned`, the fencing token
// and the signal of the releaser.
const { grantOf } = require('./rw_releaser.js')
const { run } = require('./run.js')
const { snapshot } = require('./rw_lock.js').LocalRWLock.prototype

const runs = {
  snapshot,

  runShared(callback, options) {
    return run(callback, () => this.acquireRead(options), undefined, options, grantOf)
  },

  runExclusive(callback, options) {
    return run(callback, () => this.acquireWrite(options), undefined, options, grantOf)
  },
}

module.exports = { runs }
