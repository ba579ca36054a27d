import type { AcquireOptions, IfAvailable, SyncWaitOptions } from '../core/options.js'
import type { Grant, Releaser } from '../core/releaser.js'
import type { HostOptions } from '../host/options.js'
import type { Closable } from './closable.js'
import type { Key, KeyedOptions } from './keyed.js'
import type { KeyedMutex } from './keyed_mutex.js'
import type { ReadReleaser, RWLock, RWLockSnapshot, WriteReleaser } from './rw_lock.js'

/**
 * A read-write lock for each key, which exists only while somebody holds or waits for it.
 *
 * @example
 * const documents = new KeyedRWLock()
 * const read = (id) => documents.runShared(id, () => `the text of ${id}`)
 * const write = (id, store) => documents.runExclusive(id, store)
 *
 * await Promise.all([read('a'), read('a'), write('b', () => {})])
 */
export class KeyedRWLock implements Closable {
  /**
   * @param options or the error that `cancel()` rejects with.
   * @throws {TypeError | RangeError} when an option is not what it should be; and what {@link HostOptions} says.
   */
  constructor(options?: Error | KeyedOptions)

  /**
   * Locks a key, or all of several, for reading, in its turn. Several keys are taken in an order of their own,
   * each once; a timeout is for all of them together, and whoever gives up holds none.
   *
   * @throws {TypeError | RangeError} at once for one key, when it or an option is not what it should
   * be; with several keys the promise rejects.
   */
  acquireRead(key: Key, options: IfAvailable): Promise<ReadReleaser | undefined>
  acquireRead(key: Key, options?: number | AcquireOptions): Promise<ReadReleaser>
  acquireRead(keys: readonly Key[], options: IfAvailable): Promise<Releaser | undefined>
  acquireRead(keys: readonly Key[], options?: number | AcquireOptions): Promise<Releaser>
  /** The same for writing. */
  acquireWrite(key: Key, options: IfAvailable): Promise<WriteReleaser | undefined>
  acquireWrite(key: Key, options?: number | AcquireOptions): Promise<WriteReleaser>
  acquireWrite(keys: readonly Key[], options: IfAvailable): Promise<Releaser | undefined>
  acquireWrite(keys: readonly Key[], options?: number | AcquireOptions): Promise<Releaser>

  /** Locks all for reading now, or gives undefined and holds none. */
  tryAcquireRead(key: Key): ReadReleaser | undefined
  tryAcquireRead(keys: readonly Key[]): Releaser | undefined
  /** The same for writing. */
  tryAcquireWrite(key: Key): WriteReleaser | undefined
  tryAcquireWrite(keys: readonly Key[]): Releaser | undefined

  /** Runs `callback` while nobody writes. Never calls it before it returns. */
  runShared<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => Promise<T> | T,
    options: IfAvailable,
  ): Promise<T | undefined>
  runShared<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => Promise<T> | T,
    options?: number | AcquireOptions,
  ): Promise<T>
  /** Runs `callback` while nobody else reads or writes. Never calls it before it returns. */
  runExclusive<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => Promise<T> | T,
    options: IfAvailable,
  ): Promise<T | undefined>
  runExclusive<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => Promise<T> | T,
    options?: number | AcquireOptions,
  ): Promise<T>

  /** As {@link RWLock.acquireReadSync}; with several keys `timeout` is for all of them together. */
  acquireReadSync(key: Key, options?: SyncWaitOptions): ReadReleaser
  acquireReadSync(keys: readonly Key[], options?: SyncWaitOptions): Releaser
  acquireWriteSync(key: Key, options?: SyncWaitOptions): WriteReleaser
  acquireWriteSync(keys: readonly Key[], options?: SyncWaitOptions): Releaser
  runSharedSync<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => T,
    options?: SyncWaitOptions,
  ): T
  runExclusiveSync<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => T,
    options?: SyncWaitOptions,
  ): T

  /** How many read it. */
  readers(key: Key): number
  /** Whether anybody reads or writes it. */
  isLocked(key: Key): boolean
  isWriteLocked(key: Key): boolean
  /** Rejects all of this thread who wait for this key. */
  cancel(key: Key, reason?: unknown): void
  /** Rejects all of this thread who wait for any key. */
  cancelAll(reason?: unknown): void

  /** {@link Closable.close} */
  close(): Promise<void>
  /** {@link Closable.onIdle} */
  onIdle(): Promise<void>

  /** How many keys are held or waited for: see {@link KeyedMutex.size}. */
  readonly size: number
  keys(): IterableIterator<Key>
  /** Each key that is held or waited for. */
  snapshot(): ({ key: Key } & RWLockSnapshot)[]
}
