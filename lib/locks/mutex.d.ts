import type { AcquireOptions, IfAvailable, SyncWaitOptions, WaitOptions } from '../core/options.js'
import type { Grant, Releaser, TryRunResult } from '../core/releaser.js'
import type { LockDiagnostics } from '../diagnostics/process.js'
import type { HostOptions, HostSnapshot } from '../host/options.js'
import type { HoldableOptions, HoldOptions } from '../options/lock_options.js'
import type { InScope } from '../options/scope_options.js'
import type { Closable } from './closable.js'

/** The methods of async-mutex's Mutex, which {@link withTimeout} and {@link tryAcquire} take and return. */
export interface MutexInterface {
  /** {@link Mutex.acquire} */
  acquire(options?: number | WaitOptions): Promise<MutexInterface.Releaser>
  /** {@link Mutex.runExclusive} */
  runExclusive<T>(callback: MutexInterface.Worker<T>, options?: number | WaitOptions): Promise<T>
  /** {@link Mutex.waitForUnlock} */
  waitForUnlock(options?: number | WaitOptions): Promise<void>
  /** {@link Mutex.isLocked} */
  isLocked(): boolean
  /** {@link Mutex.release} */
  release(): void
  /** {@link Mutex.cancel} */
  cancel(reason?: unknown): void
}
export namespace MutexInterface {
  export type Releaser = () => void
  export type Worker<T> = () => Promise<T> | T
}

export type MutexOptions = InScope<HoldableOptions>

export interface MutexSnapshot extends HostSnapshot, LockDiagnostics {
  /** Whether the mutex is held. */
  locked: boolean
  /**
   * The number of waiters: the promises of this thread, every blocked thread, and one for each other thread whose
   * promises wait. With `fairness: 'fifo'` every promise of other threads counts.
   */
  waiting: number
}

/**
 * A mutual exclusion lock, held across `await`. It has every method of async-mutex's Mutex: change the import.
 *
 * Within a thread and a priority the queue is first in, first out. When the thread that holds a shared mutex ends, the
 * next waiter acquires it, and its Releaser says `abandoned`. A pending wait keeps its thread alive while another thread
 * or process could end it: see docs/threads.md.
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
 * // One mutex for all threads: each thread constructs it with the same name.
 * const orders = new Mutex({ name: 'orders' })
 *
 * @example
 * // Shared through memory. In worker.js: new Mutex({ buffer: workerData })
 * const mutex = new Mutex({ shared: true })
 * new Worker('./worker.js', { workerData: mutex.buffer })
 */
export class Mutex implements MutexInterface, Closable {
  /**
   * A mutex of this thread. With a `name`, a `buffer` or `shared: true` all threads of this process share it, with
   * `scope: 'host'` all processes of this user on this machine, and with an `engine` all machines that use its server.
   *
   * @param options or, as in async-mutex, the error that `cancel()` rejects with.
   * @throws {TypeError} when an option is unknown, is of the wrong type, or contradicts another option.
   * @throws {RangeError} when an option is out of its range, or `buffer` is too small.
   * @throws {Error} `ERR_LOCK_MISMATCH` when the buffer contains a lock of another kind at this offset;
   * `ERR_LOCK_UNSUPPORTED` when the scope does not support an option (see {@link HoldOptions}); at scope `'host'` also
   * the errors of {@link HostOptions}.
   */
  constructor(options?: Error | MutexOptions)

  /**
   * Acquires the mutex, after waiting in its queue. A waiter that rejects leaves the queue at once. Rejects with
   *
   * - `ERR_LOCK_TIMEOUT` when `timeout` ms have passed, and `signal.reason` on abort;
   * - the reason given to `cancel()`;
   * - `ERR_LOCK_QUEUE_FULL` when `maxPending` callers wait;
   * - `ERR_LOCK_CLOSED` after `close()`;
   * - `ERR_LOCK_DEADLOCK` when `diagnostics: true` finds a deadlock;
   * - `ERR_LOCK_ENGINE` over an engine;
   * - `ERR_LOCK_SEGMENT` at scope `'host'` when the lock's files have been removed.
   *
   * @param options or a priority: a bare number is not a timeout.
   * @throws {TypeError | RangeError} at once when an option is invalid.
   */
  acquire(options: IfAvailable): Promise<Releaser | undefined>
  acquire(options?: number | AcquireOptions): Promise<Releaser>

  /** Acquires the mutex now, or returns undefined when it is held. */
  tryAcquire(): Releaser | undefined

  /**
   * Acquires the mutex, runs `callback`, and releases when the callback has settled, also when it throws. The callback
   * never runs before this method has returned. Resolves to the callback's result. Rejects with the callback's error,
   * with what {@link Mutex.acquire} rejects with, and with a TypeError or RangeError when an argument is invalid.
   *
   * @param options or a priority: a bare number is not a timeout.
   */
  runExclusive<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options: IfAvailable,
  ): Promise<T | undefined>
  runExclusive<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options?: number | AcquireOptions,
  ): Promise<T>

  /** {@link Mutex.runExclusive} under its name in the article https://v8.dev/features/atomics. */
  executeLocked<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options: IfAvailable,
  ): Promise<T | undefined>
  executeLocked<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options?: number | AcquireOptions,
  ): Promise<T>

  /**
   * Runs `callback` as {@link Mutex.runExclusive} does if the mutex is available now. Otherwise it does not wait, and
   * does not call `callback`. `ran` in the result tells which. Over an engine the call asks the server once.
   *
   * @example
   * const report = new Mutex()
   * const { ran, value } = await report.tryRunExclusive(async () => 'made')
   * assert.deepEqual([ran, value], [true, 'made'])
   */
  tryRunExclusive<T>(callback: (grant: Grant) => Promise<T> | T): Promise<TryRunResult<T>>

  /**
   * Acquires as {@link Mutex.acquire} does, but without a Releaser: the fastest way to lock. Call {@link Mutex.unlock}
   * to release. The caller does not learn whether the grant is `abandoned`.
   */
  lock(options?: number | AcquireOptions): Promise<void>

  /** Acquires the mutex now and returns true, or returns false when it is held. */
  tryLock(): boolean

  /**
   * Blocks this thread until it has acquired the mutex. Blocked threads and promises wait in one queue.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` ms have passed; `ERR_LOCK_DEADLOCK` when this thread already
   * holds the mutex, or a promise of this thread waits for it.
   * @throws {TypeError} on the main thread unless `allowBlockingMainThread` is set, and when an option is of the wrong
   * type.
   * @throws {RangeError} when `timeout` is NaN or negative.
   */
  lockSync(options?: SyncWaitOptions): void

  /** {@link Mutex.lockSync} with a Releaser. */
  acquireSync(options?: SyncWaitOptions): Releaser

  /**
   * Acquires the mutex as {@link Mutex.lockSync} does, runs `callback`, releases, and returns the callback's result.
   * If `callback` is an async function, this releases the mutex at its first `await` and warns with the code
   * `BOXOFFICE_ASYNC_CALLBACK`: use {@link Mutex.runExclusive}.
   *
   * When the `timeout` of a `node:vm` script ends the script inside `callback`, no `finally` runs and the mutex stays
   * held. Acquire outside the script, or call {@link Mutex.release} in the `catch` around `runInContext`.
   */
  runExclusiveSync<T>(callback: (grant: Grant) => T, options?: SyncWaitOptions): T

  /**
   * Releases the mutex. The next waiter acquires it.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when this thread does not hold the mutex.
   */
  unlock(): void

  /**
   * Releases the mutex for any holder of this thread, as in async-mutex. Does nothing when the mutex is free.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when another thread holds it.
   */
  release(): void

  /**
   * Resolves when the mutex is free, after all callers that wait to acquire it. Does not acquire it. (If threads share
   * the mutex, the call waits in the queue, and releases in the same turn of the event loop.) Rejects as {@link
   * Mutex.acquire} does, but `cancel()` and `maxPending` do not apply.
   *
   * @param options or a priority.
   * @throws {TypeError | RangeError} at once when an option is invalid.
   */
  waitForUnlock(options?: number | WaitOptions): Promise<void>

  /** Whether the mutex is held. Another thread may change that at any time. */
  isLocked(): boolean

  /**
   * Rejects every waiter of this thread that waits to acquire, with `reason` or else with `cancelError`. The holder
   * keeps the mutex. Callers of `waitForUnlock()` and callers that a condition variable has notified keep waiting.
   */
  cancel(reason?: unknown): void

  /** {@link Closable.close} */
  close(): Promise<void>
  /** {@link Closable.onIdle} */
  onIdle(): Promise<void>

  /**
   * The shared memory of the mutex. Send it to other threads, which construct the mutex with it.
   *
   * @throws {TypeError} unless the mutex was constructed with `shared: true` or a `buffer`, and without a `name`.
   */
  readonly buffer: SharedArrayBuffer
  /** The mutex's offset in `buffer`, in bytes. */
  readonly byteOffset: number

  /** The state of the mutex at this moment. */
  snapshot(): MutexSnapshot
}
