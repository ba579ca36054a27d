'use strict'
// How a read-write lock of a wider scope runs a callback: the callback's grant has `abandoned`, the fencing token and
// the signal of the releaser.
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
