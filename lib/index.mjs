import boxoffice from './index.js'

export const {
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
} = boxoffice
