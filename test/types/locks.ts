// Compiled, never run: what a user may write, and what the compiler must refuse.
import {
  type AcquireOptions,
  E_ALREADY_LOCKED,
  E_CANCELED,
  E_TIMEOUT,
  isLockError,
  KeyedMutex,
  KeyedSemaphore,
  type LockError,
  type LockErrorCode,
  Mutex,
  type MutexInterface,
  type MutexOptions,
  type Releaser,
  Semaphore,
  type SemaphoreInterface,
  tryAcquire,
  type WaitOptions,
  withTimeout,
} from 'boxoffice'

function codeOf(error: unknown): LockErrorCode | undefined {
  // @ts-expect-error It may be anything.
  error.code
  if (!isLockError(error)) return undefined
  const known: LockError = error
  const mode: 'exclusive' | 'shared' | undefined = known.cycle?.[0]?.waitsFor.mode
  if (mode === 'shared') return undefined
  // @ts-expect-error No such code.
  if (known.code === 'ERR_LOCK_TIMEOUTS') return undefined
  return error.code === 'ERR_LOCK_TIMEOUT' ? error.code : E_TIMEOUT.code
}
const errors: Error[] = [E_ALREADY_LOCKED, E_CANCELED, E_TIMEOUT]
const how: WaitOptions = { priority: 1, timeout: 0.5, signal: new AbortController().signal }

function mayBeLeftOut(timeout: number | undefined, signal: AbortSignal | undefined) {
  return new Semaphore(1).acquire({ timeout, signal, maxPending: 2, ifAvailable: true })
}

async function mutexes() {
  const options: MutexOptions = { buffer: new SharedArrayBuffer(8), byteOffset: 4 }
  const mutex = new Mutex()
  new Mutex(new Error('canceled'))
  new Mutex({ ...options, cancelError: E_CANCELED, allowBlockingMainThread: true })
  const release: Releaser = await mutex.acquire()
  release()
  release.release()
  const abandoned: boolean = release.abandoned
  const old: MutexInterface.Releaser = await mutex.acquire(1)
  old()
  {
    using _ = await mutex.acquire(how)
    await using __ = await mutex.acquire()
  }
  mutex.tryAcquire()?.release()
  const five: number = await mutex.runExclusive(() => 5)
  const six: number = await mutex.executeLocked(async () => 6, { timeout: 1 })
  await mutex.lock(how)
  mutex.unlock()
  const locked: boolean = mutex.tryLock() || mutex.isLocked()
  mutex.lockSync({ timeout: 1 })
  mutex.release()
  await mutex.waitForUnlock(2)
  mutex.cancel()
  mutex.cancel('why')
  const buffer: SharedArrayBuffer = mutex.buffer

  // @ts-expect-error an ArrayBuffer is not shared
  new Mutex({ buffer: new ArrayBuffer(4) })
  // @ts-expect-error there is no such option
  new Mutex({ offset: 4 })
  // @ts-expect-error a timeout is a number
  mutex.lock({ timeout: '10' })
  // @ts-expect-error a mutex has no weight
  mutex.acquire({ weight: 2 })
  // @ts-expect-error a mutex stays where it is
  mutex.buffer = buffer
  // @ts-expect-error there may be none
  mutex.tryAcquire().release()
  return { abandoned, five, six, locked }
}

async function semaphores() {
  const semaphore = new Semaphore(2)
  new Semaphore(2, new Error('canceled'))
  const [value, release] = await semaphore.acquire()
  const before: number = value
  release()
  await semaphore.acquire(2, 1)
  await semaphore.acquire(2, how)
  await semaphore.acquire({ weight: 2, ...how })
  const taken: [number, Releaser] | undefined = semaphore.tryAcquire(2)
  const text: string = await semaphore.runExclusive((value: number) => `${value}`, 2, how)
  await semaphore.executeLocked(async () => {}, { weight: 2 })
  semaphore.setValue(semaphore.getValue() + 1)
  semaphore.release(2)
  await semaphore.waitForUnlock(2)

  // @ts-expect-error a semaphore starts with a value
  new Semaphore()
  // @ts-expect-error the callback is given a number
  semaphore.runExclusive((value: string) => value)
  return { before, taken, text }
}

async function keyed() {
  const locks = new KeyedMutex({ cancelError: E_CANCELED })
  const keys: (string | number | bigint)[] = ['a', 1, 1n]
  using _ = await locks.acquire('a', how)
  locks.tryAcquire(keys)?.release()
  const one: number = await locks.runExclusive(keys, () => 1)
  await locks.lock(1n)
  locks.unlock(1n)
  for (const { key, locked, waiting } of locks.snapshot()) console.log(key, locked, waiting)
  console.log(locks.size, [...locks.keys()], locks.isLocked('a'))
  locks.cancel('a')
  locks.cancelAll()

  const places = new KeyedSemaphore(3)
  const [value, release] = await places.acquire('a', 2)
  release()
  const [values] = await places.acquire(['a', 'b'], 2)
  await places.runExclusive('a', (value: number) => value, { weight: 1 })
  await places.runExclusive(['a'], (values: number[]) => values)

  // @ts-expect-error a key is no object
  locks.acquire({})
  // @ts-expect-error lock takes one key
  locks.lock(['a'])
  // @ts-expect-error a number may be meant as a timeout or as a priority
  locks.acquire('a', 2000)
  // @ts-expect-error the same for units, whose weight comes first
  places.acquire('a', 1, 2000)
  return { one, value, values }
}

function decorated() {
  const mutex: MutexInterface = withTimeout(new Mutex(), 10)
  const semaphore: SemaphoreInterface = withTimeout(new Semaphore(1), 10, new Error('late'))
  const nested: MutexInterface = tryAcquire(withTimeout(mutex, 5), new Error('busy'))
  // A lock of one's own, as async-mutex allows it.
  const release: MutexInterface.Releaser = () => {}
  class Own implements MutexInterface {
    acquire = async (_priority?: number): Promise<MutexInterface.Releaser> => release
    runExclusive = async <T>(callback: MutexInterface.Worker<T>) => callback()
    waitForUnlock = async () => {}
    isLocked = () => false
    release() {}
    cancel() {}
  }
  withTimeout(new Own(), 5)
  class OwnSemaphore implements SemaphoreInterface {
    acquire = async (_weight?: number): Promise<[number, () => void]> => [1, release]
    runExclusive = async <T>(callback: SemaphoreInterface.Worker<T>) => callback(1)
    waitForUnlock = async () => {}
    isLocked = () => false
    getValue = () => 1
    setValue() {}
    release() {}
    cancel() {}
  }
  tryAcquire(withTimeout(new OwnSemaphore(), 5)).acquire(2, 1)
  // @ts-expect-error a timeout is needed
  withTimeout(mutex)
  class Derived extends Mutex {
    override acquire(options?: number | AcquireOptions): Promise<Releaser> {
      return super.acquire(options)
    }
    // @ts-expect-error the callback takes a Grant
    override runExclusive<T>(callback: MutexInterface.Worker<T>): Promise<T> {
      return super.runExclusive(callback)
    }
  }
  new Derived()
  return { semaphore, nested }
}

export { codeOf, decorated, errors, keyed, mayBeLeftOut, mutexes, semaphores }

export function codes(error: unknown) {
  if (isLockError(error, 'ERR_LOCK_TIMEOUT')) {
    const code: 'ERR_LOCK_TIMEOUT' = error.code
    return code
  }
  // @ts-expect-error no such code
  return isLockError(error, 'ERR_LOCK_NONE')
}

export async function ticket() {
  const held = await new Semaphore(1).acquire()
  held.release()
}
