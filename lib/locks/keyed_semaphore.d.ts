import type { Key } from '../core/keys.js'
import type {
  AcquireOptions,
  IfAvailable,
  SyncWaitOptions,
  WaitOptions,
  WeightedAcquireOptions,
  WeightedIfAvailable,
  WeightedSyncWaitOptions,
  WeightedWaitOptions,
} from '../core/options.js'
import type { Grant, TryRunResult } from '../core/releaser.js'
import type { HostOptions } from '../host/options.js'
import type { Closable } from './closable.js'
import type { CutKey, KeyedOptions } from './keyed.js'
import type { KeyedMutex } from './keyed_mutex.js'
import type { Semaphore, SemaphoreSnapshot, SemaphoreTicket } from './semaphore.js'

/**
 * One semaphore for each key, all with the same initial value, which is also the largest. A key takes memory only while
 * it is in use. Each key behaves as a {@link Semaphore} does, also after the death of a holder.
 *
 * @example
 * const uploads = new KeyedSemaphore(3) // three at a time for each user
 * const upload = (user, file) => uploads.runExclusive(user, () => store(file))
 * await Promise.all([upload('ada', 'a.png'), upload('ada', 'b.png'), upload('bob', 'c.png')])
 */
export class KeyedSemaphore implements Closable {
  /**
   * A map of semaphores of this thread. With a `name` all threads of this process share it, with `scope: 'host'` all
   * processes of this user on this machine, and with an `engine` all machines that use its server.
   *
   * @param value The initial value of each key: 1 to 2^29 - 1.
   * @param options or the error that `cancel()` rejects with.
   * @throws {Error} `ERR_LOCK_MISMATCH` when a map of that name has another initial value.
   * @throws {TypeError | RangeError} when `value` or an option is invalid; at scope `'host'` also the errors of
   * {@link HostOptions}.
   */
  constructor(value: number, options?: Error | KeyedOptions)

  /** As {@link Semaphore.acquire}. @throws {RangeError} when `weight` is more than the initial value. */
  acquire(key: Key, weight: number, options: IfAvailable): Promise<SemaphoreTicket | undefined>
  acquire(key: Key, options: WeightedIfAvailable): Promise<SemaphoreTicket | undefined>
  acquire(key: Key, weight?: number, options?: AcquireOptions): Promise<SemaphoreTicket>
  acquire(key: Key, options: WeightedAcquireOptions): Promise<SemaphoreTicket>
  /**
   * Takes `weight` units of each key, each key once, in an order that all callers share. The ticket has the values
   * before the grant in the order of `keys`. `timeout` covers all keys together; a caller that times out or is aborted
   * holds none.
   */
  acquire(
    keys: readonly Key[],
    weight: number,
    options: IfAvailable,
  ): Promise<SemaphoreTicket<number[]> | undefined>
  acquire(
    keys: readonly Key[],
    options: WeightedIfAvailable,
  ): Promise<SemaphoreTicket<number[]> | undefined>
  acquire(
    keys: readonly Key[],
    weight?: number | WeightedAcquireOptions,
    options?: AcquireOptions,
  ): Promise<SemaphoreTicket<number[]>>
  /** Takes `weight` units of each key now, or returns undefined and holds none. */
  tryAcquire(key: Key, weight?: number): SemaphoreTicket | undefined
  tryAcquire(keys: readonly Key[], weight?: number): SemaphoreTicket<number[]> | undefined
  /** As {@link Semaphore.runExclusive}. For several keys the callback gets the value of each before. */
  runExclusive<T>(
    key: Key,
    callback: (value: number, grant: Grant) => Promise<T> | T,
    weight: WeightedIfAvailable,
  ): Promise<T | undefined>
  runExclusive<T>(
    key: Key,
    callback: (value: number, grant: Grant) => Promise<T> | T,
    weight: number,
    options: IfAvailable,
  ): Promise<T | undefined>
  runExclusive<T>(
    key: Key,
    callback: (value: number, grant: Grant) => Promise<T> | T,
    weight?: number | WeightedAcquireOptions,
    options?: AcquireOptions,
  ): Promise<T>
  runExclusive<T>(
    keys: readonly Key[],
    callback: (values: number[], grant: Grant) => Promise<T> | T,
    weight: WeightedIfAvailable,
  ): Promise<T | undefined>
  runExclusive<T>(
    keys: readonly Key[],
    callback: (values: number[], grant: Grant) => Promise<T> | T,
    weight: number,
    options: IfAvailable,
  ): Promise<T | undefined>
  runExclusive<T>(
    keys: readonly Key[],
    callback: (values: number[], grant: Grant) => Promise<T> | T,
    weight?: number | WeightedAcquireOptions,
    options?: AcquireOptions,
  ): Promise<T>
  /** {@link KeyedSemaphore.runExclusive} under its name in the article https://v8.dev/features/atomics. */
  executeLocked<T>(
    key: Key,
    callback: (value: number, grant: Grant) => Promise<T> | T,
    weight: WeightedIfAvailable,
  ): Promise<T | undefined>
  executeLocked<T>(
    key: Key,
    callback: (value: number, grant: Grant) => Promise<T> | T,
    weight: number,
    options: IfAvailable,
  ): Promise<T | undefined>
  executeLocked<T>(
    key: Key,
    callback: (value: number, grant: Grant) => Promise<T> | T,
    weight?: number | WeightedAcquireOptions,
    options?: AcquireOptions,
  ): Promise<T>
  executeLocked<T>(
    keys: readonly Key[],
    callback: (values: number[], grant: Grant) => Promise<T> | T,
    weight: WeightedIfAvailable,
  ): Promise<T | undefined>
  executeLocked<T>(
    keys: readonly Key[],
    callback: (values: number[], grant: Grant) => Promise<T> | T,
    weight: number,
    options: IfAvailable,
  ): Promise<T | undefined>
  executeLocked<T>(
    keys: readonly Key[],
    callback: (values: number[], grant: Grant) => Promise<T> | T,
    weight?: number | WeightedAcquireOptions,
    options?: AcquireOptions,
  ): Promise<T>

  /** {@link Semaphore.tryRunExclusive}, for one key or several. */
  tryRunExclusive<T>(
    key: Key,
    callback: (value: number, grant: Grant) => Promise<T> | T,
    weight?: number,
  ): Promise<TryRunResult<T>>
  tryRunExclusive<T>(
    keys: readonly Key[],
    callback: (values: number[], grant: Grant) => Promise<T> | T,
    weight?: number,
  ): Promise<TryRunResult<T>>

  /** As {@link Semaphore.acquireSync}. */
  acquireSync(key: Key, weight?: number, options?: SyncWaitOptions): SemaphoreTicket
  acquireSync(key: Key, options: WeightedSyncWaitOptions): SemaphoreTicket
  /** Takes `weight` units of each key; `timeout` covers all keys together. */
  acquireSync(
    keys: readonly Key[],
    weight?: number | WeightedSyncWaitOptions,
    options?: SyncWaitOptions,
  ): SemaphoreTicket<number[]>
  /** As {@link Semaphore.runExclusiveSync}. */
  runExclusiveSync<T>(
    key: Key,
    callback: (value: number, grant: Grant) => T,
    weight?: number | WeightedSyncWaitOptions,
    options?: SyncWaitOptions,
  ): T
  runExclusiveSync<T>(
    keys: readonly Key[],
    callback: (values: number[], grant: Grant) => T,
    weight?: number | WeightedSyncWaitOptions,
    options?: SyncWaitOptions,
  ): T

  /**
   * Puts `weight` units of the key back, for any holder.
   *
   * @throws {RangeError} `ERR_LOCK_RANGE` when the value would exceed the initial value. The value stays.
   */
  release(key: Key, weight?: number): void
  /** As {@link Semaphore.waitForUnlock}. */
  waitForUnlock(
    key: Key,
    weight?: number | WeightedWaitOptions,
    options?: WaitOptions,
  ): Promise<void>
  /** Whether the key has no unit left. */
  isLocked(key: Key): boolean
  /** The units that the key has left. */
  getValue(key: Key): number
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
  snapshot(): ({ key: Key | CutKey } & SemaphoreSnapshot)[]
}
