import type { EngineChoice } from '../cluster/options.js'
import type { AcquireOptions, IfAvailable, SyncWaitOptions, WaitOptions } from '../core/options.js'
import type { Grant, Releaser } from '../core/releaser.js'
import type { DiagnosticsOptions } from '../diagnostics/options.js'
import type { LockDiagnostics } from '../diagnostics/process.js'
import type { HostOptions, HostSnapshot } from '../host/options.js'
import type {
  BufferOptions,
  CancelOptions,
  HoldOptions,
  LockOptions,
  WaitDefaults,
} from '../lock_options.js'
import type { Closable } from './closable.js'

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

export interface MutexOptions
  extends LockOptions,
    WaitDefaults,
    HoldOptions,
    BufferOptions,
    CancelOptions,
    HostOptions,
    EngineChoice,
    DiagnosticsOptions {}

export interface MutexSnapshot extends HostSnapshot, LockDiagnostics {
  locked: boolean
  /** How many wait for it: promises of this thread, blocked threads, and one for each other thread with promises. */
  waiting: number
}

/**
 * A mutual exclusion lock, held across `await`. A superset of async-mutex's: change the import.
 * Within a thread strictly first come, first served (within a priority). When the thread that holds a shared
 * mutex ends, the next one gets it, and its Releaser says `abandoned`.
 *
 * @example
 * const mutex = new Mutex()
 * app.post('/tickets', (request, response, next) => {
 *   mutex
 *     .runExclusive(async () => {
 *       const order = await findOrder(request.user)
 *       return order ?? (await createOrder(request.user))
 *     })
 *     .then((order) => response.json(order), next)
 * })
 *
 * @example
 * // One mutex for all threads: each of them constructs it with the same name.
 * const orders = new Mutex({ name: 'orders' })
 *
 * @example
 * // The same by memory. In worker.js: new Mutex({ buffer: workerData })
 * const mutex = new Mutex({ shared: true })
 * new Worker('./worker.js', { workerData: mutex.buffer })
 */
export class Mutex implements MutexInterface, Closable {
  /**
   * @param options or, as in async-mutex, the error that `cancel()` rejects with.
   * @throws {TypeError} when an option is of the wrong type.
   * @throws {RangeError} when `buffer` is too small or `byteOffset` out of range.
   * @throws {Error} `ERR_LOCK_MISMATCH` when another kind of lock lies there.
   */
  constructor(options?: Error | MutexOptions)

  /**
   * Locks it in its turn.
   *
   * @param options or a priority.
   * @throws {TypeError | RangeError} at once when an option is not what it should be.
   */
  acquire(options: IfAvailable): Promise<Releaser | undefined>
  acquire(options?: number | AcquireOptions): Promise<Releaser>

  /** Locks it now, or gives undefined: somebody holds it. */
  tryAcquire(): Releaser | undefined

  /**
   * Runs `callback` while nobody else holds the mutex, and lets go when it is through, also when it
   * throws. Never calls it before it returns. Rejects with whatever `callback` throws or rejects
   * with, and with what acquire would throw.
   */
  runExclusive<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options: IfAvailable,
  ): Promise<T | undefined>
  runExclusive<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options?: number | AcquireOptions,
  ): Promise<T>

  /** {@link Mutex.runExclusive} by the name it has in V8's proposal. */
  executeLocked<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options: IfAvailable,
  ): Promise<T | undefined>
  executeLocked<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options?: number | AcquireOptions,
  ): Promise<T>

  /** acquire without a Releaser, and the fastest: whoever has locked calls {@link Mutex.unlock}. */
  lock(options?: number | AcquireOptions): Promise<void>

  /** Locks it now, or says no. */
  tryLock(): boolean

  /**
   * Locks it, and blocks this thread until it can. Blocked threads and promises stand in one line.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first; `ERR_LOCK_DEADLOCK` when this
   * thread holds the mutex already, or a promise of this thread waits for it.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given, and when
   * an option is of the wrong type.
   * @throws {RangeError} when `timeout` is NaN or negative.
   */
  lockSync(options?: SyncWaitOptions): void

  /** {@link Mutex.lockSync} with a Releaser. */
  acquireSync(options?: SyncWaitOptions): Releaser

  /**
   * Runs `callback` at once or after blocking this thread, lets go, and returns what it returns.
   *
   * A `node:vm` script with a `timeout` that is cut off in `callback` runs no `finally`: the lock stays held. Take the
   * lock outside the script, or call {@link Mutex.release} in the `catch` around `runInContext`.
   */
  runExclusiveSync<T>(callback: (grant: Grant) => T, options?: SyncWaitOptions): T

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

  /**
   * Rejects all of this thread who wait to acquire. The holder is left alone, and so are waitForUnlock and
   * who has been notified of a condition; these two enter the line anew where threads share it.
   */
  cancel(reason?: unknown): void

  /** {@link Closable.close} */
  close(): Promise<void>
  /** {@link Closable.onIdle} */
  onIdle(): Promise<void>

  /**
   * The memory that the mutex lies in, to be sent to other threads.
   *
   * @throws {TypeError} unless the mutex was constructed with `shared: true` or a `buffer`.
   */
  readonly buffer: SharedArrayBuffer
  /** Where in `buffer`, in bytes. */
  readonly byteOffset: number

  /** What there is to see of it in this moment. */
  snapshot(): MutexSnapshot
}
