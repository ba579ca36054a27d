// Compiled, never run: a RecursiveMutex.
import {
  KeyedMutex,
  KeyedRWLock,
  RecursiveMutex,
  type RecursiveMutexOptions,
  type WaitOptions,
} from 'boxoffice'

async function recursive() {
  const options: RecursiveMutexOptions = { name: 'accounts', fairness: 'fifo' }
  new RecursiveMutex(new Error('canceled'))
  new RecursiveMutex({ buffer: new SharedArrayBuffer(8), byteOffset: 4, cancelError: 'canceled' })
  const mutex = new RecursiveMutex({ ...options, allowBlockingMainThread: true })
  const how: WaitOptions = { priority: 1, timeout: 5, signal: new AbortController().signal }
  const five: number = await mutex.runExclusive(() => mutex.runExclusive(async () => 5), how)
  const six: number = await mutex.executeLocked(() => 6, 1)
  const text: string = mutex.runExclusiveSync(() => 'text', { timeout: 1, priority: 2 })
  const held: boolean = mutex.isHeld() && mutex.isLocked()
  mutex.cancel()
  mutex.cancel('why')
  const buffer: SharedArrayBuffer = mutex.buffer
  const at: number = mutex.byteOffset

  // @ts-expect-error its caller could not be recognized as the holder
  mutex.acquire()
  // @ts-expect-error nor of this
  mutex.lock()
  // @ts-expect-error a blocked thread cannot hear of a signal
  mutex.runExclusiveSync(() => {}, { signal: new AbortController().signal })
  // @ts-expect-error a callback is a function
  mutex.runExclusive('callback')
  // @ts-expect-error it has no weight
  mutex.runExclusive(() => {}, { weight: 2 })
  return [five, six, text, held, buffer, at]
}

export { recursive }

new KeyedMutex({ reentrant: true })
new KeyedMutex({ reentrant: undefined })
// @ts-expect-error only mutexes are
new KeyedRWLock({ reentrant: true })
