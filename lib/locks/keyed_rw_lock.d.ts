import type { Key } from '../core/keys.js'
import type { AcquireOptions, IfAvailable, SyncWaitOptions } from '../core/options.js'
import type { Grant, Releaser, TryRunResult } from '../core/releaser.js'
import type { HostOptions } from '../host/options.js'
import type { Closable } from './closable.js'
import type { CutKey, KeyedOptions } from './keyed.js'
import type { KeyedMutex } from './keyed_mutex.js'
import type { ReadReleaser, RWLock, RWLockSnapshot, WriteReleaser } from './rw_lock.js'

/**
 * One read-write lock for each key. A key takes memory only while it is held or waited for. Each key behaves as an
 * {@link RWLock} does, also after the death of a holder.
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
   * A map of read-write locks of this thread. With a `name` all threads of this process share it, with `scope: 'host'`
   * all processes of this user on this machine, and with an `engine` all machines that use its server.
   *
   * @param options or the error that `cancel()` rejects with.
   * @throws {TypeError | RangeError} when an option is invalid; at scope `'host'` also the errors of
   * {@link HostOptions}.
   */
  constructor(options?: Error | KeyedOptions)

  /**
   * Acquires a key, or all of several keys, for reading, after waiting in their queues. It acquires several keys one
   * after the other, each key once, in an order that all callers share. `timeout` covers all of them together, and a
   * caller that times out or is aborted holds none. Rejects as {@link RWLock.acquireRead} does.
   *
   * @throws {TypeError | RangeError} at once when the one key or an option is invalid; with several keys the promise
   * rejects.
   */
  acquireRead(key: Key, options: IfAvailable): Promise<ReadReleaser | undefined>
  acquireRead(key: Key, options?: AcquireOptions): Promise<ReadReleaser>
  acquireRead(keys: readonly Key[], options: IfAvailable): Promise<Releaser | undefined>
  acquireRead(keys: readonly Key[], options?: AcquireOptions): Promise<Releaser>
  /** Acquires a key, or all of several keys, for writing, as {@link KeyedRWLock.acquireRead} does for reading. */
  acquireWrite(key: Key, options: IfAvailable): Promise<WriteReleaser | undefined>
  acquireWrite(key: Key, options?: AcquireOptions): Promise<WriteReleaser>
  acquireWrite(keys: readonly Key[], options: IfAvailable): Promise<Releaser | undefined>
  acquireWrite(keys: readonly Key[], options?: AcquireOptions): Promise<Releaser>

  /** Acquires all keys for reading now, or returns undefined and holds none. */
  tryAcquireRead(key: Key): ReadReleaser | undefined
  tryAcquireRead(keys: readonly Key[]): Releaser | undefined
  /** Acquires all keys for writing now, or returns undefined and holds none. */
  tryAcquireWrite(key: Key): WriteReleaser | undefined
  tryAcquireWrite(keys: readonly Key[]): Releaser | undefined

  /** Runs `callback` while it holds the keys for reading, as {@link RWLock.runShared} does. */
  runShared<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => Promise<T> | T,
    options: IfAvailable,
  ): Promise<T | undefined>
  runShared<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => Promise<T> | T,
    options?: AcquireOptions,
  ): Promise<T>
  /** Runs `callback` while it holds the keys for writing, as {@link RWLock.runExclusive} does. */
  runExclusive<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => Promise<T> | T,
    options: IfAvailable,
  ): Promise<T | undefined>
  runExclusive<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => Promise<T> | T,
    options?: AcquireOptions,
  ): Promise<T>

  /** {@link RWLock.tryRunShared}, for one key or several. */
  tryRunShared<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => Promise<T> | T,
  ): Promise<TryRunResult<T>>
  /** {@link RWLock.tryRunExclusive}, for one key or several. */
  tryRunExclusive<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => Promise<T> | T,
  ): Promise<TryRunResult<T>>

  /** As {@link RWLock.acquireReadSync}; with several keys `timeout` covers all of them together. */
  acquireReadSync(key: Key, options?: SyncWaitOptions): ReadReleaser
  acquireReadSync(keys: readonly Key[], options?: SyncWaitOptions): Releaser
  /** As {@link RWLock.acquireWriteSync}; with several keys `timeout` covers all of them together. */
  acquireWriteSync(key: Key, options?: SyncWaitOptions): WriteReleaser
  acquireWriteSync(keys: readonly Key[], options?: SyncWaitOptions): Releaser
  /** As {@link RWLock.runSharedSync}, for one key or several. */
  runSharedSync<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => T,
    options?: SyncWaitOptions,
  ): T
  /** As {@link RWLock.runExclusiveSync}, for one key or several. */
  runExclusiveSync<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => T,
    options?: SyncWaitOptions,
  ): T

  /** The number of readers that hold the key. */
  readers(key: Key): number
  /** Whether a reader or a writer holds the key. */
  isLocked(key: Key): boolean
  /** Whether a writer holds the key. */
  isWriteLocked(key: Key): boolean
  /** Rejects every waiter of this thread for this key. */
  cancel(key: Key | CutKey, reason?: unknown): void
  /** Rejects every waiter of this thread, for every key. */
  cancelAll(reason?: unknown): void

  /** {@link Closable.close} */
  close(): Promise<void>
  /** {@link Closable.onIdle} */
  onIdle(): Promise<void>

  /** The number of keys that are held or waited for: see {@link KeyedMutex.size}. */
  readonly size: number
  /** The keys that are held or waited for at this moment. */
  keys(): IterableIterator<Key | CutKey>
  /** The state of each key that is held or waited for. */
  snapshot(): ({ key: Key | CutKey } & RWLockSnapshot)[]
}
