import boxoffice from './index.js'

export const {
  AutoResetEvent,
  ConditionVariable,
  E_ALREADY_LOCKED,
  E_CANCELED,
  E_TIMEOUT,
  KeyedMutex,
  KeyedRWLock,
  KeyedSemaphore,
  ManualResetEvent,
  Mutex,
  platform,
  RWLock,
  Semaphore,
  tryAcquire,
  withTimeout,
} = boxoffice
