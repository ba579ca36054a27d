'use strict'
const { platform } = require('./load.js')
const { Mutex } = require('./mutex.js')
const { Semaphore } = require('./semaphore.js')

module.exports = { Mutex, platform, Semaphore }
