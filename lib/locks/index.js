'use strict'
// index.mjs for require().
const { E_ALREADY_LOCKED, E_CANCELED, E_TIMEOUT, isLockError } = require('../core/errors.js')
const { Barrier } = require('./barrier.js')
const { ConditionVariable } = require('./condition_variable.js')
const { CountdownLatch } = require('./countdown_latch.js')
const { tryAcquire, withTimeout } = require('./decorators.js')
const { DiningPhilosophers } = require('./dining_philosophers.js')
const { AutoResetEvent, ManualResetEvent } = require('./events.js')
const { KeyedMutex } = require('./keyed_mutex.js')
const { KeyedRWLock } = require('./keyed_rw_lock.js')
const { KeyedSemaphore } = require('./keyed_semaphore.js')
const { Mutex } = require('./mutex.js')
const { RecursiveMutex } = require('./recursive_mutex.js')
const { RWLock } = require('./rw_lock.js')
const { Semaphore } = require('./semaphore.js')
const { SingleFlight } = require('./single_flight.js')

module.exports = {
  AutoResetEvent,
  Barrier,
  ConditionVariable,
  CountdownLatch,
  DiningPhilosophers,
  E_ALREADY_LOCKED,
  E_CANCELED,
  E_TIMEOUT,
  isLockError,
  KeyedMutex,
  KeyedRWLock,
  KeyedSemaphore,
  ManualResetEvent,
  Mutex,
  RecursiveMutex,
  RWLock,
  Semaphore,
  SingleFlight,
  tryAcquire,
  withTimeout,
}
