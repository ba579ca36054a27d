'use strict'
// Takes the clock and the timers: programs replace them later.
const { variable } = require('./core/builtins.js')

// A module is loaded when one of its exports is first read. Each has its own require(), so that
// bundlers find it.
const barrier = () => require('./locks/barrier.js')
const conditionVariable = () => require('./locks/condition_variable.js')
const countdownLatch = () => require('./locks/countdown_latch.js')
const decorators = () => require('./locks/decorators.js')
const diningPhilosophers = () => require('./locks/dining_philosophers.js')
const errors = () => require('./core/errors.js')
const events = () => require('./locks/events.js')
const keyedMutex = () => require('./locks/keyed_mutex.js')
const keyedRWLock = () => require('./locks/keyed_rw_lock.js')
const keyedSemaphore = () => require('./locks/keyed_semaphore.js')
const leaderElection = () => require('./locks/leader_election.js')
const lockManager = () => require('./weblocks/lock_manager.js')
const mutex = () => require('./locks/mutex.js')
const node = () => require('./locks/node.js')
const recursiveMutex = () => require('./locks/recursive_mutex.js')
const rwLock = () => require('./locks/rw_lock.js')
const semaphore = () => require('./locks/semaphore.js')
const singleFlight = () => require('./locks/single_flight.js')

// cjs-module-lexer reads the names here.
module.exports = {
  AutoResetEvent: events,
  Barrier: barrier,
  ConditionVariable: conditionVariable,
  CountdownLatch: countdownLatch,
  DiningPhilosophers: diningPhilosophers,
  E_ALREADY_LOCKED: errors,
  E_CANCELED: errors,
  E_TIMEOUT: errors,
  installNavigatorLocks: lockManager,
  isLockError: errors,
  KeyedMutex: keyedMutex,
  KeyedRWLock: keyedRWLock,
  KeyedSemaphore: keyedSemaphore,
  LeaderElection: leaderElection,
  Lock: lockManager,
  LockManager: lockManager,
  locks: lockManager,
  ManualResetEvent: events,
  Mutex: mutex,
  platform: node,
  RecursiveMutex: recursiveMutex,
  RWLock: rwLock,
  Semaphore: semaphore,
  SingleFlight: singleFlight,
  snapshot: node,
  tryAcquire: decorators,
  withTimeout: decorators,
}

// An invalid value is reported when the package is loaded, not with the first lock.
if (variable('BOXOFFICE_DIAGNOSTICS')) node()

for (const [name, load] of Object.entries(module.exports)) {
  const shape = { configurable: true, enumerable: true }
  // After the first read or assignment it is an ordinary property.
  const set = (value) =>
    Object.defineProperty(module.exports, name, {
      __proto__: null,
      ...shape,
      value,
      writable: true,
    })
  const get = () => {
    node()
    const value = load()[name]
    set(value)
    return value
  }
  Object.defineProperty(module.exports, name, { __proto__: null, ...shape, get, set })
}
