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
import type { Grant } from '../core/releaser.js'
import type { HostOptions } from '../host/options.js'
import type { Closable } from './closable.js'
import type { Key, KeyedOptions } from './keyed.js'
import type { Semaphore, SemaphoreSnapshot, SemaphoreTicket } from './semaphore.js'

/**
 * A semaphore for each key, all of the same value at first.
 *
 * @example
 * const uploads = new KeyedSemaphore(3) // three at a time for each user
 * const upload = (user, file) => uploads.runExclusive(user, () => store(file))
 * await Promise.all([upload('ada', 'a.png'), upload('ada', 'b.png'), upload('bob', 'c.png')])
 */
export class KeyedSemaphore implements Closable {
  /**
   * @param value How much each key has at first: 1 to 2^29 - 1.
   * @param options or the error that `cancel()` rejects with.
   * @throws {Error} `ERR_LOCK_MISMATCH` when a map of that name has another value.
   * @throws {TypeError | RangeError} when `value` or an option is not what it should be; and what {@link HostOptions} says.
   */
  constructor(value: number, options?: Error | KeyedOptions)

  /** As {@link Semaphore.acquire}. @throws {RangeError} when `weight` is more than each key has. */
  acquire(key: Key, weight: number, options: IfAvailable): Promise<SemaphoreTicket | undefined>
  acquire(key: Key, options: WeightedIfAvailable): Promise<SemaphoreTicket | undefined>
  acquire(key: Key, weight?: number, options?: number | AcquireOptions): Promise<SemaphoreTicket>
  acquire(key: Key, options: WeightedAcquireOptions): Promise<SemaphoreTicket>
  /** Several keys at once, each once, `weight` of each; the values are in the order of taking. */
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
    options?: number | AcquireOptions,
  ): Promise<SemaphoreTicket<number[]>>
  tryAcquire(key: Key, weight?: number): SemaphoreTicket | undefined
  tryAcquire(keys: readonly Key[], weight?: number): SemaphoreTicket<number[]> | undefined
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
    options?: number | AcquireOptions,
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
    options?: number | AcquireOptions,
  ): Promise<T>
  /** {@link KeyedSemaphore.runExclusive} by the name it has in V8's proposal. */
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
    options?: number | AcquireOptions,
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
    options?: number | AcquireOptions,
  ): Promise<T>

  /** As {@link Semaphore.acquireSync}. */
  acquireSync(key: Key, weight?: number, options?: SyncWaitOptions): SemaphoreTicket
  acquireSync(key: Key, options: WeightedSyncWaitOptions): SemaphoreTicket
  /** `timeout` is for all keys together. */
  acquireSync(
    keys: readonly Key[],
    weight?: number | WeightedSyncWaitOptions,
    options?: SyncWaitOptions,
  ): SemaphoreTicket<number[]>
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
  /** Rejects all of this thread who wait for this key. */
  cancel(key: Key, reason?: unknown): void
  /** Rejects all of this thread who wait for any key. */
  cancelAll(reason?: unknown): void

  /** {@link Closable.close} */
  close(): Promise<void>
  /** {@link Closable.onIdle} */
  onIdle(): Promise<void>

  /**
   * How many keys are held or waited for: by any thread, if they share the map; then a key whose holder died
   * counts until the next one has been told.
   */
  readonly size: number
  keys(): IterableIterator<Key>
  /** Each key that is held or waited for. */
  snapshot(): ({ key: Key } & SemaphoreSnapshot)[]
}
