import boxoffice from './index.js'

export const {
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
} = boxoffice
