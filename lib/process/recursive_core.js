'use strict'
// The mutex below a recursive mutex that other threads may know, and that is watched.
const { MutexCore } = require('./mutex_core.js')
const native = require('../load.js')

class RecursiveCore extends MutexCore {}

RecursiveCore.prototype.kind = {
  name: 'recursive mutex',
  number: 0,
  bytes: 4,
  native: native.mutex,
}

module.exports = { RecursiveCore }
