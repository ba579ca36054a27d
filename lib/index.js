'use strict'
const { ConditionVariable } = require('./condition_variable.js')
const { tryAcquire, withTimeout } = require('./decorators.js')
const { E_ALREADY_LOCKED, E_CANCELED, E_TIMEOUT } = require('./errors.js')
const { AutoResetEvent, ManualResetEvent } = require('./events.js')
const { KeyedMutex } = require('./keyed_mutex.js')
const { KeyedSemaphore } = require('./keyed_semaphore.js')
const { platform } = require('./load.js')
const { Mutex } = require('./mutex.js')
const { Semaphore } = require('./semaphore.js')

module.exports = {
  AutoResetEvent,
  ConditionVariable,
  E_ALREADY_LOCKED,
  E_CANCELED,
  E_TIMEOUT,
  KeyedMutex,
  KeyedSemaphore,
  ManualResetEvent,
  Mutex,
  platform,
  Semaphore,
  tryAcquire,
  withTimeout,
}
