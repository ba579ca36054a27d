import boxoffice from './index.js'

export const {
  AutoResetEvent,
  Barrier,
  ConditionVariable,
  CountdownLatch,
  DiningPhilosophers,
  E_ALREADY_LOCKED,
  E_CANCELED,
  E_TIMEOUT,
  installNavigatorLocks,
  isLockError,
  KeyedMutex,
  KeyedRWLock,
  KeyedSemaphore,
  LeaderElection,
  Lock,
  LockManager,
  locks,
  ManualResetEvent,
  Mutex,
  platform,
  RecursiveMutex,
  RWLock,
  Semaphore,
  SingleFlight,
  snapshot,
  tryAcquire,
  withTimeout,
} = boxoffice

export default boxoffice
