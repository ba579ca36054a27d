'use strict'
const { tryAcquire, withTimeout } = require('./decorators.js')
const { E_ALREADY_LOCKED, E_CANCELED, E_TIMEOUT } = require('./errors.js')
const { KeyedMutex } = require('./keyed_mutex.js')
const { KeyedSemaphore } = require('./keyed_semaphore.js')
const { platform } = require('./load.js')
const { Mutex } = require('./mutex.js')
const { Semaphore } = require('./semaphore.js')

module.exports = {
  E_ALREADY_LOCKED,
  E_CANCELED,
  E_TIMEOUT,
  KeyedMutex,
  KeyedSemaphore,
  Mutex,
  platform,
  Semaphore,
  tryAcquire,
  withTimeout,
}
