'use strict'
const { Barrier } = require('./locks/barrier.js')
const { ConditionVariable } = require('./locks/condition_variable.js')
const { CountdownLatch } = require('./locks/countdown_latch.js')
const { tryAcquire, withTimeout } = require('./locks/decorators.js')
const { DiningPhilosophers } = require('./locks/dining_philosophers.js')
const { E_ALREADY_LOCKED, E_CANCELED, E_TIMEOUT } = require('./core/errors.js')
const { AutoResetEvent, ManualResetEvent } = require('./locks/events.js')
const { KeyedMutex } = require('./locks/keyed_mutex.js')
const { KeyedRWLock } = require('./locks/keyed_rw_lock.js')
const { KeyedSemaphore } = require('./locks/keyed_semaphore.js')
const { installNavigatorLocks, Lock, LockManager, locks } = require('./weblocks/lock_manager.js')
const { Mutex } = require('./locks/mutex.js')
const { RecursiveMutex } = require('./locks/recursive_mutex.js')
const { RWLock } = require('./locks/rw_lock.js')
const { Semaphore } = require('./locks/semaphore.js')

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
