/// <reference lib="esnext.disposable" />

/**
 * The system and processor the addon was built for, as Node names them.
 *
 * @example
 * 'linux-x64'
 */
export const platform: string

/** Rejects a wait that {@link withTimeout} has ended. Its `code` is `ERR_LOCK_TIMEOUT`. */
export const E_TIMEOUT: Error
/** Rejects what {@link tryAcquire} could not have at once. `ERR_LOCK_ALREADY_LOCKED`. */
export const E_ALREADY_LOCKED: Error
/** Rejects waits that `cancel()` has ended. `ERR_LOCK_CANCELED`. */
export const E_CANCELED: Error

/** How to wait. */
export interface WaitOptions {
  /** Higher goes first; first come, first served within a priority. Not NaN. @default 0 */
  priority?: number
  /**
   * The longest wait in milliseconds: 0 or more, where 0 takes the lock now or not at all. Beyond
   * 2^31 - 1 (24 days) there is no deadline. After it the promise rejects with `ERR_LOCK_TIMEOUT`.
   * The timer is the global `setTimeout` of that moment.
   */
  timeout?: number
  /**
   * Takes this one out of the line: the promise rejects with `signal.reason`. No effect once the lock
   * has been granted.
   */
  signal?: AbortSignal
}

export interface WeightedWaitOptions extends WaitOptions {
  /** How much to take from the value. @default 1 */
  weight?: number
}

/**
 * Lets go of one grant: call it, call its `release()`, or leave it to `using`. Once is enough: when
 * its grant is over, whoever ended it, it does nothing.
 *
 * @example
 * const release = await mutex.acquire()
 * try {
 *   // alone
 * } finally {
 *   release()
 * }
 *
 * @example
 * using _ = await mutex.acquire()
 */
export interface Releaser extends Disposable, AsyncDisposable {
  (): void
  release(): void
  /**
   * The last holder died with the lock: look at what it left. (The other ways to lock are not told, and
   * the news is gone with them.)
   */
  readonly abandoned: boolean
}

export interface MutexInterface {
  acquire(options?: number | WaitOptions): Promise<MutexInterface.Releaser>
  runExclusive<T>(callback: MutexInterface.Worker<T>, options?: number | WaitOptions): Promise<T>
  waitForUnlock(options?: number | WaitOptions): Promise<void>
  isLocked(): boolean
  release(): void
  cancel(reason?: unknown): void
}

export namespace MutexInterface {
  export type Releaser = () => void
  export type Worker<T> = () => Promise<T> | T
}

export interface SemaphoreInterface {
  acquire(
    weight?: number,
    options?: number | WaitOptions,
  ): Promise<[number, SemaphoreInterface.Releaser]>
  acquire(options: WeightedWaitOptions): Promise<[number, SemaphoreInterface.Releaser]>
  runExclusive<T>(
    callback: SemaphoreInterface.Worker<T>,
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<T>
  waitForUnlock(
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<void>
  isLocked(): boolean
  getValue(): number
  setValue(value: number): void
  release(weight?: number): void
  cancel(reason?: unknown): void
}

export namespace SemaphoreInterface {
  export type Releaser = () => void
  export type Worker<T> = (value: number) => Promise<T> | T
}

export interface CancelOptions {
  /** What `cancel()` rejects with, unless it is given a reason. @default E_CANCELED */
  cancelError?: unknown
}

export interface MutexOptions extends CancelOptions {
  /**
   * Where the mutex lies: all threads that construct a Mutex in the same place of the same buffer
   * share it. Left out, it belongs to this thread, until {@link Mutex.buffer} is asked for.
   */
  buffer?: SharedArrayBuffer

  /**
   * Where in `buffer` its four bytes are, in bytes: a multiple of 4. They must be 0 before the first
   * Mutex is constructed there.
   *
   * @default 0
   */
  byteOffset?: number

  /**
   * Let {@link Mutex.lockSync} block the main thread. While it blocks, no promise, timer or
   * connection of that thread gets on.
   *
   * @default false
   */
  allowBlockingMainThread?: boolean
}

/**
 * A mutual exclusion lock, held across `await`. A superset of async-mutex's: change the import.
 * Within a thread strictly first come, first served (within a priority).
 *
 * @example
 * const mutex = new Mutex()
 * app.post('/tickets', async (request) => {
 *   return mutex.runExclusive(async () => {
 *     const order = await findOrder(request.user)
 *     return order ?? (await createOrder(request.user))
 *   })
 * })
 *
 * @example
 * // One mutex for all threads.
 * const mutex = new Mutex()
 * new Worker('./worker.js', { workerData: mutex.buffer })
 * // In the worker:
 * const mutex = new Mutex({ buffer: workerData })
 */
export class Mutex implements MutexInterface {
  /**
   * @param options or, as in async-mutex, the error that `cancel()` rejects with.
   * @throws {TypeError} when an option is of the wrong type.
   * @throws {RangeError} when `buffer` is too small or `byteOffset` out of range.
   */
  constructor(options?: Error | MutexOptions)

  /**
   * Locks it in its turn.
   *
   * @param options or a priority.
   * @throws {TypeError | RangeError} at once when an option is not what it should be.
   */
  acquire(options?: number | WaitOptions): Promise<Releaser>

  /** Locks it now, or gives undefined: somebody holds it. */
  tryAcquire(): Releaser | undefined

  /**
   * Runs `callback` while nobody else holds the mutex, and lets go when it is through, also when it
   * throws. Never calls it before it returns. Rejects with whatever `callback` throws or rejects
   * with, and with what acquire would throw.
   */
  runExclusive<T>(callback: () => Promise<T> | T, options?: number | WaitOptions): Promise<T>

  /** {@link Mutex.runExclusive} by the name it has in V8's proposal. */
  executeLocked<T>(callback: () => Promise<T> | T, options?: number | WaitOptions): Promise<T>

  /** acquire without a Releaser, and the fastest: whoever has locked calls {@link Mutex.unlock}. */
  lock(options?: number | WaitOptions): Promise<void>

  /** Locks it now, or says no. */
  tryLock(): boolean

  /**
   * Locks it, and blocks this thread until it can. A worker that blocks here cannot be terminated
   * before it wakes up, so prefer a timeout where the holder may not come to an end.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first; `ERR_LOCK_DEADLOCK` when this
   * thread holds the mutex already, or a promise of this thread waits for it.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given, and when
   * `timeout` is no number.
   * @throws {RangeError} when `timeout` is NaN or negative.
   */
  lockSync(options?: { timeout?: number }): void

  /**
   * Lets the next one in.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when this thread does not hold the mutex.
   */
  unlock(): void

  /**
   * As in async-mutex: unlocks it, whoever of this thread holds it. Unlocked, it does nothing.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when another thread holds it.
   */
  release(): void

  /**
   * Resolves when it could have been had; those who wait to acquire go first. Takes nothing. (On a
   * mutex that threads share it stands in line, and passes the lock on in the same turn.)
   */
  waitForUnlock(options?: number | WaitOptions): Promise<void>

  /** Whether anybody holds it: in the next moment that may have changed. */
  isLocked(): boolean

  /** Rejects all of this thread who wait to acquire. The holder and waitForUnlock are left alone. */
  cancel(reason?: unknown): void

  /** The memory it lies in, to be sent to other threads: see {@link MutexOptions.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** Where in `buffer`, in bytes. */
  readonly byteOffset: number
}

/**
 * A counting semaphore with weights and priorities. A superset of async-mutex's: change the import.
 * Values and weights are integers, from -2^29 to 2^29 - 1. The head of the line keeps lighter ones of
 * its own or lower priority behind it.
 *
 * @example
 * const connections = new Semaphore(10)
 * await connections.runExclusive(() => query())
 */
export class Semaphore implements SemaphoreInterface {
  /**
   * @param value How much there is at first.
   * @param options or, as in async-mutex, the error that `cancel()` rejects with.
   */
  constructor(value: number, options?: Error | CancelOptions)

  /**
   * Takes `weight` from the value in its turn. Resolves to the value before, and a Releaser that puts
   * the weight back.
   *
   * @throws {RangeError} at once: `invalid weight N: must be positive`.
   * @throws {TypeError | RangeError} at once when an option is not what it should be.
   */
  acquire(weight?: number, options?: number | WaitOptions): Promise<[number, Releaser]>
  acquire(options: WeightedWaitOptions): Promise<[number, Releaser]>

  /** Takes `weight` now, or gives undefined: too little is there, or somebody waits. */
  tryAcquire(weight?: number): [number, Releaser] | undefined

  /** Runs `callback(valueBefore)` while it has `weight`. Never calls it before it returns. */
  runExclusive<T>(
    callback: (value: number) => Promise<T> | T,
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<T>

  /** {@link Semaphore.runExclusive} by the name it has in V8's proposal. */
  executeLocked<T>(
    callback: (value: number) => Promise<T> | T,
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<T>

  /** Resolves when `weight` could have been had; those who wait to acquire go first. */
  waitForUnlock(
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<void>

  /** Whether the value is 0 or less. */
  isLocked(): boolean
  getValue(): number
  /** Sets the value, and lets in whoever fits then. */
  setValue(value: number): void

  /**
   * Adds to the value, whoever has taken from it, and lets in whoever fits then.
   *
   * @throws {RangeError} when the value would pass 2^29 - 1 (`ERR_LOCK_RANGE`); nothing has changed.
   */
  release(weight?: number): void

  /** Rejects all who wait to acquire. Holders and waitForUnlock are left alone. */
  cancel(reason?: unknown): void
}

/** Keys of different types are different keys: 1 is not '1'. NaN is none. */
export type Key = string | number | bigint

/**
 * A mutex for each key, which exists only while somebody holds or waits for it: nothing to create
 * first, nothing to clean up after. (The last 256 idle keys at most are remembered, for speed.)
 *
 * @example
 * const locks = new KeyedMutex()
 * app.post('/tickets', (request) =>
 *   locks.runExclusive(request.user, async () => {
 *     const order = await findOrder(request.user)
 *     return order ?? (await createOrder(request.user))
 *   }),
 * )
 *
 * @example
 * // Several keys at once: no order of the caller's can deadlock.
 * await locks.runExclusive([from, to], () => transfer(from, to))
 */
export class KeyedMutex {
  /** @param options or the error that `cancel()` rejects with. */
  constructor(options?: Error | CancelOptions)

  /**
   * Locks a key, or all of several, in its turn. Several keys are taken in an order of their own, each
   * once; a timeout is for all of them together, and whoever gives up holds none.
   *
   * @throws {TypeError | RangeError} at once for one key, when it or an option is not what it should
   * be; with several keys the promise rejects.
   */
  acquire(key: Key | readonly Key[], options?: number | WaitOptions): Promise<Releaser>
  /** Locks all now, or gives undefined and holds none. */
  tryAcquire(key: Key | readonly Key[]): Releaser | undefined
  /** Runs `callback` while nobody else holds the keys. Never calls it before it returns. */
  runExclusive<T>(
    key: Key | readonly Key[],
    callback: () => Promise<T> | T,
    options?: number | WaitOptions,
  ): Promise<T>
  /** {@link KeyedMutex.runExclusive} by the name it has in V8's proposal. */
  executeLocked<T>(
    key: Key | readonly Key[],
    callback: () => Promise<T> | T,
    options?: number | WaitOptions,
  ): Promise<T>

  lock(key: Key, options?: number | WaitOptions): Promise<void>
  tryLock(key: Key): boolean
  /** @throws {Error} `ERR_LOCK_NOT_HELD` when nobody holds it. */
  unlock(key: Key): void
  /** Unlocks it, whoever holds it. Unlocked, it does nothing. */
  release(key: Key): void

  waitForUnlock(key: Key, options?: number | WaitOptions): Promise<void>
  isLocked(key: Key): boolean
  /** Rejects all who wait for this key. */
  cancel(key: Key, reason?: unknown): void
  /** Rejects all who wait for any key. */
  cancelAll(reason?: unknown): void

  /** How many keys are held or waited for. */
  readonly size: number
  /** The keys that are held or waited for at this moment. */
  keys(): IterableIterator<Key>
  snapshot(): { key: Key; locked: boolean; waiting: number }[]
}

/**
 * A semaphore for each key, all of the same value at first.
 *
 * @example
 * const uploads = new KeyedSemaphore(3) // three at a time for each user
 * await uploads.runExclusive(user, () => store(file))
 */
export class KeyedSemaphore {
  /**
   * @param value How much each key has at first: 1 to 2^29 - 1.
   * @param options or the error that `cancel()` rejects with.
   */
  constructor(value: number, options?: Error | CancelOptions)

  /** As {@link Semaphore.acquire}. @throws {RangeError} when `weight` is more than each key has. */
  acquire(key: Key, weight?: number, options?: number | WaitOptions): Promise<[number, Releaser]>
  acquire(key: Key, options: WeightedWaitOptions): Promise<[number, Releaser]>
  /** Several keys at once, each once, `weight` of each; the values are in the order of taking. */
  acquire(
    keys: readonly Key[],
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<[number[], Releaser]>
  tryAcquire(key: Key, weight?: number): [number, Releaser] | undefined
  tryAcquire(keys: readonly Key[], weight?: number): [number[], Releaser] | undefined
  runExclusive<T>(
    key: Key,
    callback: (value: number) => Promise<T> | T,
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<T>
  runExclusive<T>(
    keys: readonly Key[],
    callback: (values: number[]) => Promise<T> | T,
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<T>
  /** {@link KeyedSemaphore.runExclusive} by the name it has in V8's proposal. */
  executeLocked<T>(
    key: Key,
    callback: (value: number) => Promise<T> | T,
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<T>
  executeLocked<T>(
    keys: readonly Key[],
    callback: (values: number[]) => Promise<T> | T,
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<T>

  /**
   * Puts `weight` back, whoever has taken it.
   *
   * @throws {RangeError} `ERR_LOCK_RANGE` when the key would have more than at first.
   */
  release(key: Key, weight?: number): void
  waitForUnlock(
    key: Key,
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<void>
  /** Whether nothing is left of this key. */
  isLocked(key: Key): boolean
  getValue(key: Key): number
  /** Rejects all who wait for this key. */
  cancel(key: Key, reason?: unknown): void
  /** Rejects all who wait for any key. */
  cancelAll(reason?: unknown): void

  /** How many keys are held or waited for. */
  readonly size: number
  keys(): IterableIterator<Key>
  snapshot(): { key: Key; value: number; waiting: number }[]
}

/**
 * A lock all of whose waits end after `timeout` ms, with `error`. The late one is really gone: it
 * holds nobody up.
 *
 * @example
 * const limited = withTimeout(mutex, 100)
 * try {
 *   await limited.runExclusive(work)
 * } catch (error) {
 *   if (error === E_TIMEOUT) busy()
 *   else throw error
 * }
 */
export function withTimeout(lock: MutexInterface, timeout: number, error?: Error): MutexInterface
export function withTimeout(
  lock: SemaphoreInterface,
  timeout: number,
  error?: Error,
): SemaphoreInterface

/**
 * A lock that rejects with `error` when it cannot be had in this turn of the event loop:
 * `withTimeout(lock, 0, error)`.
 */
export function tryAcquire(lock: MutexInterface, error?: Error): MutexInterface
export function tryAcquire(lock: SemaphoreInterface, error?: Error): SemaphoreInterface
