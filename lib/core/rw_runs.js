'use strict'
// How a read-write lock runs a callback where its releasers say more than that it is held: that the last holder died, a
// fencing token, a signal.
const { grantOf } = require('./grant.js')
const { run } = require('./run.js')

const runs = {
  runShared(callback, options) {
    return run(callback, () => this.acquireRead(options), undefined, options, grantOf)
  },

  runExclusive(callback, options) {
    return run(callback, () => this.acquireWrite(options), undefined, options, grantOf)
  },
}

module.exports = { runs }
