// Compiled, never run: close() and onIdle().
import {
  type Closable,
  KeyedMutex,
  KeyedRWLock,
  KeyedSemaphore,
  Mutex,
  type MutexInterface,
  RecursiveMutex,
  RWLock,
  Semaphore,
  tryAcquire,
  withTimeout,
} from 'boxoffice'

export async function closeAll() {
  const all: Closable[] = [
    new Mutex(),
    new RecursiveMutex(),
    new Semaphore(1),
    new RWLock(),
    new KeyedMutex(),
    new KeyedSemaphore(1),
    new KeyedRWLock(),
    withTimeout(new Mutex(), 5),
    tryAcquire(new Semaphore(1)),
  ]
  const closed: Promise<void>[] = all.map((one) => one.close())
  await Promise.all([...closed, ...all.map((one) => one.onIdle())])
}

export function others(mutex: MutexInterface) {
  const limited = withTimeout(mutex, 5)
  // @ts-expect-error It may be any mutex.
  limited.close()
}
