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
  KeyedMutex,
  KeyedRWLock,
  KeyedSemaphore,
  ManualResetEvent,
  Mutex,
  platform,
  RecursiveMutex,
  RWLock,
  Semaphore,
  tryAcquire,
  withTimeout,
} = boxoffice
