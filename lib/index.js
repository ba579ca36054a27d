'use strict'
const { Barrier } = require('./barrier.js')
const { ConditionVariable } = require('./condition_variable.js')
const { CountdownLatch } = require('./countdown_latch.js')
const { tryAcquire, withTimeout } = require('./decorators.js')
const { DiningPhilosophers } = require('./dining_philosophers.js')
const { E_ALREADY_LOCKED, E_CANCELED, E_TIMEOUT } = require('./errors.js')
const { AutoResetEvent, ManualResetEvent } = require('./events.js')
const { KeyedMutex } = require('./keyed_mutex.js')
const { KeyedRWLock } = require('./keyed_rw_lock.js')
const { KeyedSemaphore } = require('./keyed_semaphore.js')
const { installNavigatorLocks, Lock, LockManager, locks } = require('./lock_manager.js')
const { Mutex } = require('./mutex.js')
const { RecursiveMutex } = require('./recursive_mutex.js')
const { RWLock } = require('./rw_lock.js')
const { Semaphore } = require('./semaphore.js')

const platform = `${process.platform}-${process.arch}`

/** Loads the diagnostics when it is first asked for. */
function snapshot() {
  return require('./diagnostics/process.js').snapshot()
}

module.exports = {
  AutoResetEvent,
  Barrier,
  ConditionVariable,
  CountdownLatch,
  DiningPhilosophers,
  E_ALREADY_LOCKED,
  E_CANCELED,
  E_TIMEOUT,
  installNavigatorLocks,
  KeyedMutex,
  KeyedRWLock,
  KeyedSemaphore,
  Lock,
  LockManager,
  locks,
  ManualResetEvent,
  Mutex,
  platform,
  RecursiveMutex,
  RWLock,
  Semaphore,
  snapshot,
  tryAcquire,
  withTimeout,
}
