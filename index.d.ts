/**
 * The system and processor the addon was built for, as Node names them.
 *
 * @example
 * 'linux-x64'
 */
export const platform: string

export interface SemaphoreOptions {
  /**
   * Share the semaphore with every thread of this process that constructs one of the same name. It
   * lives as long as one of them holds it. Without a name it belongs to this thread alone.
   */
  name?: string

  /**
   * Let {@link Semaphore.wait} block the main thread. While it blocks, no promise, timer or
   * connection of that thread gets on; if only that thread could signal, it blocks for ever.
   *
   * @default false
   */
  allowBlockingMainThread?: boolean
}

/**
 * The operating system's counting semaphore, which blocks the calling thread. It is meant for
 * worker threads.
 *
 * @example
 * // In each worker: sleep until the main thread has something to do.
 * const work = new Semaphore(0, { name: 'work' })
 * work.wait()
 *
 * // On the main thread: wake three of them.
 * const work = new Semaphore(0, { name: 'work' })
 * work.signal(3)
 */
export class Semaphore {
  /**
   * @param initial The count it starts with: an integer from 0 to 2^31 - 1. It has no effect when a
   * semaphore of that name exists.
   * @throws {TypeError} when an argument is of the wrong type.
   * @throws {RangeError} when `initial` is out of range.
   */
  constructor(initial?: number, options?: SemaphoreOptions)

  /**
   * Takes one from the count; blocks this thread until there is one to take. A worker that blocks
   * here cannot be terminated before it wakes up, so prefer a timeout where the signal may not come.
   *
   * @param timeoutMs The longest wait in milliseconds: an integer from 0 to 2^31 - 1, where 0 only
   * looks. Left out, the wait has no end.
   * @returns true when it has taken one, false when the timeout passed first.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given, and when
   * `timeoutMs` is no number.
   * @throws {RangeError} when `timeoutMs` is out of range.
   */
  wait(timeoutMs?: number): boolean

  /**
   * Takes one from the count if that can be done at once. Never blocks.
   *
   * @returns whether it has taken one.
   */
  tryWait(): boolean

  /**
   * Adds to the count and wakes as many waiting threads.
   *
   * @param n How many to add: an integer from 0 to 2^31 - 1.
   * @default 1
   * @throws {TypeError} when `n` is no number.
   * @throws {RangeError} when `n` is out of range or the count would pass 2^31 - 1; the count is then
   * as it was.
   */
  signal(n?: number): void
}

export interface MutexOptions {
  /**
   * Where the mutex lies: all threads that construct a Mutex in the same place of the same buffer
   * share it. Left out, a new buffer is made, to be found at {@link Mutex.buffer}.
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

export interface LockSyncOptions {
  /** The longest wait in milliseconds, 0 or more; 0 only looks. Left out, the wait has no end. */
  timeout?: number
}

/**
 * A mutual exclusion lock between the threads of this process, held by the thread that has locked
 * it. It is meant for worker threads.
 *
 * @example
 * // On the main thread:
 * const mutex = new Mutex()
 * new Worker('./worker.js', { workerData: mutex.buffer })
 *
 * // In each worker:
 * const mutex = new Mutex({ buffer: workerData })
 * mutex.lockSync()
 * try {
 *   // one thread at a time
 * } finally {
 *   mutex.unlock()
 * }
 */
export class Mutex {
  /**
   * @throws {TypeError} when an option is of the wrong type.
   * @throws {RangeError} when `buffer` is too small or `byteOffset` out of range.
   */
  constructor(options?: MutexOptions)

  readonly buffer: SharedArrayBuffer
  readonly byteOffset: number

  /**
   * Locks; blocks this thread until it can. A worker that blocks here cannot be terminated before it
   * wakes up, so prefer a timeout where the holder may not come to an end.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first; `ERR_LOCK_DEADLOCK` when this
   * thread holds the mutex already.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given, and when
   * `timeout` is no number.
   * @throws {RangeError} when `timeout` is NaN or negative.
   */
  lockSync(options?: LockSyncOptions): void

  /**
   * Locks if that can be done at once. Never blocks.
   *
   * @returns whether this thread has locked it now; false also when it holds it already.
   */
  tryLock(): boolean

  /**
   * Lets the next one in.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when this thread does not hold the mutex.
   */
  unlock(): void

  /** Whether anybody holds it. By the time you look at the answer, that may have changed. */
  isLocked(): boolean
}
