import type { Engine, EngineChoice } from '../cluster/options.js'
import type { AcquireOptions, IfAvailable, SyncWaitOptions, WaitOptions } from '../core/options.js'
import type { Grant, Releaser } from '../core/releaser.js'
import type { DiagnosticsOptions } from '../diagnostics/options.js'
import type { LockDiagnostics } from '../diagnostics/process.js'
import type { HostOptions, HostSnapshot } from '../host/options.js'
import type {
  BufferOptions,
  CancelOptions,
  LockOptions,
  MaxHoldOptions,
  WaitDefaults,
} from '../lock_options.js'
import type { Closable } from './closable.js'
import type { Mutex } from './mutex.js'

/** Lets go of one read, as a {@link Releaser} does; or upgrades it. */
export interface ReadReleaser extends Releaser {
  /**
   * From reader to writer, once the other readers have let go, before everybody in line; no new readers come in
   * meanwhile. Resolves to the writer's Releaser, and this one's grant is over. However else it ends, the
   * caller reads on: rejects with `ERR_LOCK_UPGRADE` at once when another reader is upgrading (each would wait
   * for the other: one has to let go) or this one is already, with `ERR_LOCK_TIMEOUT`, with the signal's reason, and with
   * `ERR_LOCK_NOT_HELD` when this Releaser lets go meanwhile. Over an {@link Engine} readers are those of all machines; there
   * it rejects with `ERR_LOCK_ENGINE`, too, and with `ERR_LOCK_LOST` when the lease is lost that it reads by.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when its grant is over.
   * @throws {TypeError | RangeError} at once when an option is not what it should be.
   *
   * @example
   * const lock = new RWLock()
   * const reader = await lock.acquireRead()
   * const writer = await reader.upgrade({ timeout: 100 })
   * assert.ok(lock.isWriteLocked())
   * writer.downgrade().release()
   */
  upgrade(options: Omit<IfAvailable, 'priority'>): Promise<WriteReleaser | undefined>
  upgrade(options?: Omit<WaitOptions, 'priority'>): Promise<WriteReleaser>

  /** The same now, or undefined: others read, or it is upgrading already. @throws {Error} `ERR_LOCK_NOT_HELD` when its grant is over. */
  tryUpgrade(): WriteReleaser | undefined

  /**
   * The same, and blocks this thread.
   *
   * @throws {Error} `ERR_LOCK_UPGRADE`, `ERR_LOCK_TIMEOUT`; `ERR_LOCK_DEADLOCK` when another reader of this
   * thread would have to let go, one included that only waits; `ERR_LOCK_NOT_HELD` when its grant is over.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given.
   */
  upgradeSync(options?: Omit<SyncWaitOptions, 'priority'>): WriteReleaser
}

/** Lets the writer go, as a {@link Releaser} does; or makes it a reader. */
export interface WriteReleaser extends Releaser {
  /**
   * From writer to reader, without letting another writer in between; readers at the head of the line come in,
   * too. Gives the reader's Releaser, and this one's grant is over.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when its grant is over.
   */
  downgrade(): ReadReleaser
}

export interface RWLockOptions
  extends LockOptions,
    WaitDefaults,
    MaxHoldOptions,
    BufferOptions,
    CancelOptions,
    HostOptions,
    EngineChoice,
    DiagnosticsOptions {}

export interface RWLockSnapshot extends HostSnapshot, LockDiagnostics {
  readers: number
  written: boolean
  waiting: number
}

/**
 * A read-write lock: readers share it, a writer is alone. Nobody starves: who comes while somebody waits
 * stands in line behind, readers behind writers, too. (So a reader that reads again while a writer
 * waits, waits for itself.)
 *
 * When a thread ends that shares it, its reads are over; if it was the writer, the next one in is told
 * (`releaser.abandoned`).
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
 * // Looks first, and becomes the writer only where that is needed.
 * const reader = await lock.acquireRead()
 * try {
 *   if (!prices.has('seat')) {
 *     using writer = await reader.upgrade()
 *     prices.set('seat', 20)
 *   }
 * } finally {
 *   reader.release()
 * }
 */
export class RWLock implements Closable {
  /**
   * @param options or the error that `cancel()` rejects with.
   * @throws {TypeError} when an option is of the wrong type.
   * @throws {RangeError} when `buffer` is too small or `byteOffset` out of range.
   * @throws {Error} `ERR_LOCK_MISMATCH` when another kind of lock lies there.
   */
  constructor(options?: Error | RWLockOptions)

  /**
   * Locks it for reading, in its turn.
   *
   * @param options or a priority.
   * @throws {TypeError | RangeError} at once when an option is not what it should be.
   */
  acquireRead(options: IfAvailable): Promise<ReadReleaser | undefined>
  acquireRead(options?: number | AcquireOptions): Promise<ReadReleaser>
  /** The same for writing. */
  acquireWrite(options: IfAvailable): Promise<WriteReleaser | undefined>
  acquireWrite(options?: number | AcquireOptions): Promise<WriteReleaser>

  /** Locks it for reading now, or gives undefined: it is being written, or somebody waits. */
  tryAcquireRead(): ReadReleaser | undefined
  /** Locks it for writing now, or gives undefined: somebody has it. */
  tryAcquireWrite(): WriteReleaser | undefined

  /**
   * Runs `callback` while nobody writes, and lets go when it is through, also when it throws. Never calls it
   * before it returns. Rejects with whatever `callback` throws or rejects with, and with what acquireRead
   * would throw.
   */
  runShared<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options: IfAvailable,
  ): Promise<T | undefined>
  runShared<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options?: number | AcquireOptions,
  ): Promise<T>
  /** The same, while nobody else reads or writes. */
  runExclusive<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options: IfAvailable,
  ): Promise<T | undefined>
  runExclusive<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options?: number | AcquireOptions,
  ): Promise<T>

  /**
   * Locks it for reading, and blocks this thread until it can. Blocked threads and promises stand in one line.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first; `ERR_LOCK_DEADLOCK` when it could not be
   * had without something that this thread holds or waits for.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given, and when
   * an option is of the wrong type.
   * @throws {RangeError} when `timeout` is NaN or negative.
   */
  acquireReadSync(options?: SyncWaitOptions): ReadReleaser
  /** The same for writing. */
  acquireWriteSync(options?: SyncWaitOptions): WriteReleaser
  /** Runs `callback` while nobody writes, and returns what it returns. Blocks this thread until it can. */
  runSharedSync<T>(callback: (grant: Grant) => T, options?: SyncWaitOptions): T
  /** The same, while nobody else reads or writes. */
  runExclusiveSync<T>(callback: (grant: Grant) => T, options?: SyncWaitOptions): T

  /** How many read it: in the next moment that may have changed, as with the two below. */
  readonly readers: number
  /** Whether anybody reads or writes. */
  isLocked(): boolean
  isWriteLocked(): boolean

  /** Rejects all of this thread who wait, to upgrade, too. Who has it is left alone. */
  cancel(reason?: unknown): void

  /** {@link Closable.close} */
  close(): Promise<void>
  /** {@link Closable.onIdle} */
  onIdle(): Promise<void>

  /** The memory it lies in: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** Where in `buffer`, in bytes. */
  readonly byteOffset: number

  /** What there is to see of it in this moment. */
  snapshot(): RWLockSnapshot
}
