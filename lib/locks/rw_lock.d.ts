import type { Engine } from '../cluster/options.js'
import type { AcquireOptions, IfAvailable, SyncWaitOptions, WaitOptions } from '../core/options.js'
import type { Grant, Releaser, TryRunResult } from '../core/releaser.js'
import type { LockDiagnostics } from '../diagnostics/process.js'
import type { HostSnapshot } from '../host/options.js'
import type { HoldableOptions } from '../options/lock_options.js'
import type { InScope } from '../options/scope_options.js'
import type { Closable } from './closable.js'
import type { Mutex } from './mutex.js'

/** Releases one reader, as a {@link Releaser} does, or upgrades it to the writer. */
export interface ReadReleaser extends Releaser {
  /**
   * Makes this reader the writer once all other readers have released. The upgrade goes ahead of every queued waiter
   * and of new readers. Resolves to the writer's Releaser, and ends the grant of this Releaser.
   *
   * If the upgrade fails, the caller is still a reader. The promise rejects with
   *
   * - `ERR_LOCK_UPGRADE`, at once, when this or another reader is upgrading: two upgrades would wait for each other, so
   *   release this reader;
   * - `ERR_LOCK_TIMEOUT`, and `signal.reason` on abort;
   * - `ERR_LOCK_NOT_HELD` when this Releaser is released meanwhile;
   * - `ERR_LOCK_UNSUPPORTED` when the lock has a `minHold`;
   * - over an {@link Engine}, where the readers of all machines count: `ERR_LOCK_ENGINE`, and `ERR_LOCK_LOST` when the
   *   reader's lease is lost.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when the grant of this Releaser is over.
   * @throws {TypeError | RangeError} at once when an option is invalid.
   *
   * @example
   * const lock = new RWLock()
   * const reader = await lock.acquireRead()
   * const writer = await reader.upgrade({ timeout: 100 })
   * assert.ok(lock.isWriteLocked())
   * writer.downgrade().release()
   */
  upgrade(options: Omit<IfAvailable, 'priority' | 'maxPending'>): Promise<WriteReleaser | undefined>
  upgrade(options?: Omit<WaitOptions, 'priority'>): Promise<WriteReleaser>

  /**
   * Upgrades now, or returns undefined when there are other readers or an upgrade is under way.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when the grant of this Releaser is over; `ERR_LOCK_UNSUPPORTED` when the lock has a
   * `minHold`.
   */
  tryUpgrade(): WriteReleaser | undefined

  /**
   * Upgrades as {@link ReadReleaser.upgrade} does, and blocks this thread.
   *
   * @throws {Error} `ERR_LOCK_UPGRADE` and `ERR_LOCK_TIMEOUT`, as above; `ERR_LOCK_DEADLOCK` when this thread has another
   * reader, or a promise of this thread waits to read: blocking would deadlock; `ERR_LOCK_NOT_HELD` when the grant of
   * this Releaser is over.
   * @throws {TypeError} on the main thread unless `allowBlockingMainThread` is set.
   */
  upgradeSync(options?: Omit<SyncWaitOptions, 'priority'>): WriteReleaser
}

/** Releases the writer, as a {@link Releaser} does, or makes it a reader. */
export interface WriteReleaser extends Releaser {
  /**
   * Makes the writer a reader, with no other writer in between, and admits the readers at the head of the queue.
   * Returns the reader's Releaser, and ends the grant of this Releaser.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when the grant of this Releaser is over; `ERR_LOCK_LOST` over an engine when the
   * lock's `maxHold` has ended it; `ERR_LOCK_UNSUPPORTED` when the lock has a `minHold`.
   */
  downgrade(): ReadReleaser
}

export type RWLockOptions = InScope<HoldableOptions, 'minHold'>

export interface RWLockSnapshot extends HostSnapshot, LockDiagnostics {
  /** The number of readers that hold the lock. */
  readers: number
  /** Whether a writer holds the lock. */
  written: boolean
  /** The number of waiters, readers and writers. */
  waiting: number
}

/**
 * A read-write lock: many readers share it, or one writer has it alone. Neither starves, because new callers go to the
 * end of the queue, and a reader waits behind a queued writer. (So a reader that acquires the lock again while a writer
 * waits deadlocks.)
 *
 * When a thread that shares the lock ends, its readers are released. If it was the writer, the next grant is
 * `abandoned`. That grant may be a reader's, and then the next writer is not told: leave a mark in the data, as in
 * docs/threads.md.
 *
 * @example
 * const lock = new RWLock()
 * const prices = new Map()
 *
 * const priceOf = (item) => lock.runShared(() => prices.get(item))
 * const change = (item, price) => lock.runExclusive(() => prices.set(item, price))
 *
 * await change('seat', 20)
 * assert.equal(await priceOf('seat'), 20)
 *
 * @example
 * // Reads first, and upgrades only when it has to write.
 * const reader = await lock.acquireRead()
 * try {
 *   if (!prices.has('seat')) {
 *     const writer = await reader.upgrade()
 *     try {
 *       prices.set('seat', 20)
 *     } finally {
 *       writer.release()
 *     }
 *   }
 * } finally {
 *   reader.release()
 * }
 */
export class RWLock implements Closable {
  /**
   * A read-write lock of this thread. With a `name`, a `buffer` or `shared: true` all threads of this process share it,
   * with `scope: 'host'` all processes of this user on this machine, and with an `engine` all machines that use its server.
   *
   * Throws as the constructor of a {@link Mutex} does.
   *
   * @param options or the error that `cancel()` rejects with.
   */
  constructor(options?: Error | RWLockOptions)

  /**
   * Acquires the lock for reading, after waiting in its queue. Rejects as {@link Mutex.acquire} does.
   *
   * @param options or a priority: a bare number is not a timeout.
   * @throws {TypeError | RangeError} at once when an option is invalid.
   */
  acquireRead(options: IfAvailable): Promise<ReadReleaser | undefined>
  acquireRead(options?: number | AcquireOptions): Promise<ReadReleaser>
  /** Acquires the lock for writing, after waiting in its queue. Rejects as {@link Mutex.acquire} does. */
  acquireWrite(options: IfAvailable): Promise<WriteReleaser | undefined>
  acquireWrite(options?: number | AcquireOptions): Promise<WriteReleaser>

  /** Acquires the lock for reading now, or returns undefined when a writer holds it or a caller waits. */
  tryAcquireRead(): ReadReleaser | undefined
  /** Acquires the lock for writing now, or returns undefined when a reader or writer holds it. */
  tryAcquireWrite(): WriteReleaser | undefined

  /**
   * Acquires the lock for reading, runs `callback`, and releases when the callback has settled, also when it throws.
   * The callback never runs before this method has returned. Rejects with the callback's error, with what
   * {@link RWLock.acquireRead} rejects with, and with a TypeError or RangeError when an argument is invalid.
   */
  runShared<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options: IfAvailable,
  ): Promise<T | undefined>
  runShared<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options?: number | AcquireOptions,
  ): Promise<T>
  /** Runs `callback` as the writer, as {@link RWLock.runShared} does for a reader. */
  runExclusive<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options: IfAvailable,
  ): Promise<T | undefined>
  runExclusive<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options?: number | AcquireOptions,
  ): Promise<T>

  /** {@link Mutex.tryRunExclusive} as a reader: it runs if a reader would not have to wait. */
  tryRunShared<T>(callback: (grant: Grant) => Promise<T> | T): Promise<TryRunResult<T>>
  /** {@link Mutex.tryRunExclusive} as the writer. */
  tryRunExclusive<T>(callback: (grant: Grant) => Promise<T> | T): Promise<TryRunResult<T>>

  /**
   * Blocks this thread until it has acquired the lock for reading. Blocked threads and promises wait in one queue.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` ms have passed; `ERR_LOCK_DEADLOCK` when the lock cannot become
   * free before this thread goes on, because this thread holds it or waits for it.
   * @throws {TypeError} on the main thread unless `allowBlockingMainThread` is set, and when an option is of the wrong
   * type.
   * @throws {RangeError} when `timeout` is NaN or negative.
   */
  acquireReadSync(options?: SyncWaitOptions): ReadReleaser
  /** Blocks this thread until it has acquired the lock for writing: see {@link RWLock.acquireReadSync}. */
  acquireWriteSync(options?: SyncWaitOptions): WriteReleaser
  /**
   * Acquires as {@link RWLock.acquireReadSync} does, runs `callback`, releases, and returns the callback's result. If
   * `callback` is an async function, this releases the lock at its first `await`: use {@link RWLock.runShared}.
   */
  runSharedSync<T>(callback: (grant: Grant) => T, options?: SyncWaitOptions): T
  /** Runs `callback` as the writer, as {@link RWLock.runSharedSync} does for a reader. */
  runExclusiveSync<T>(callback: (grant: Grant) => T, options?: SyncWaitOptions): T

  /** The number of readers that hold the lock. Another thread may change that at any time. */
  readonly readers: number
  /** Whether a reader or a writer holds the lock. */
  isLocked(): boolean
  /** Whether a writer holds the lock. */
  isWriteLocked(): boolean

  /** Rejects every waiter of this thread, upgrades included, with `reason` or else `cancelError`. Holders keep the lock. */
  cancel(reason?: unknown): void

  /** {@link Closable.close} */
  close(): Promise<void>
  /** {@link Closable.onIdle} */
  onIdle(): Promise<void>

  /** The shared memory of the lock: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** The lock's offset in `buffer`, in bytes. */
  readonly byteOffset: number

  /** The state of the lock at this moment. */
  snapshot(): RWLockSnapshot
}
