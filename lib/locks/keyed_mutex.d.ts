import type { AcquireOptions, IfAvailable, SyncWaitOptions, WaitOptions } from '../core/options.js'
import type { Grant, Releaser } from '../core/releaser.js'
import type { HostOptions } from '../host/options.js'
import type { Closable } from './closable.js'
import type { Key, KeyedMutexOptions } from './keyed.js'
import type { Mutex, MutexSnapshot } from './mutex.js'

/**
 * A mutex for each key, which exists only while somebody holds or waits for it: nothing to create
 * first, nothing to clean up after. (The last 256 idle keys at most are remembered, for speed.)
 *
 * @example
 * const locks = new KeyedMutex()
 * app.post('/tickets', (request, response, next) => {
 *   locks
 *     .runExclusive(request.user, async () => {
 *       const order = await findOrder(request.user)
 *       return order ?? (await createOrder(request.user))
 *     })
 *     .then((order) => response.json(order), next)
 * })
 *
 * @example
 * // Several keys at once: no order of the caller's can deadlock.
 * const transfer = (from, to) => locks.runExclusive([from, to], () => move(from, to))
 * await Promise.all([transfer('ada', 'bob'), transfer('bob', 'ada')])
 *
 * @example
 * // One map for all threads.
 * const locks = new KeyedMutex({ name: 'tickets' })
 */
export class KeyedMutex implements Closable {
  /**
   * @param options or the error that `cancel()` rejects with.
   * @throws {TypeError | RangeError} when an option is not what it should be; and what {@link HostOptions} says.
   */
  constructor(options?: Error | KeyedMutexOptions)

  /**
   * Locks a key, or all of several, in its turn. Several keys are taken in an order of their own, each
   * once; a timeout is for all of them together, and whoever gives up holds none.
   *
   * @throws {TypeError | RangeError} at once for one key, when it or an option is not what it should
   * be; with several keys the promise rejects.
   */
  acquire(key: Key | readonly Key[], options: IfAvailable): Promise<Releaser | undefined>
  acquire(key: Key | readonly Key[], options?: number | AcquireOptions): Promise<Releaser>
  /** Locks all now, or gives undefined and holds none. */
  tryAcquire(key: Key | readonly Key[]): Releaser | undefined
  /** Runs `callback` while nobody else holds the keys. Never calls it before it returns. */
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
  /** {@link KeyedMutex.runExclusive} by the name it has in V8's proposal. */
  executeLocked<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => Promise<T> | T,
    options: IfAvailable,
  ): Promise<T | undefined>
  executeLocked<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => Promise<T> | T,
    options?: number | AcquireOptions,
  ): Promise<T>

  lock(key: Key, options?: number | AcquireOptions): Promise<void>
  tryLock(key: Key): boolean

  /** As {@link Mutex.lockSync}. */
  lockSync(key: Key, options?: SyncWaitOptions): void
  /** The same with a Releaser, for one key or several; `timeout` is for all of them together. */
  acquireSync(key: Key | readonly Key[], options?: SyncWaitOptions): Releaser
  runExclusiveSync<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => T,
    options?: SyncWaitOptions,
  ): T

  /** @throws {Error} `ERR_LOCK_NOT_HELD` when this thread does not hold it. */
  unlock(key: Key): void
  /**
   * Unlocks it, whoever of this thread holds it. Unlocked, it does nothing.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when another thread holds it.
   */
  release(key: Key): void

  waitForUnlock(key: Key, options?: number | WaitOptions): Promise<void>
  isLocked(key: Key): boolean
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
  /** The keys that are held or waited for at this moment. */
  keys(): IterableIterator<Key>
  /** Each key that is held or waited for. */
  snapshot(): ({ key: Key } & MutexSnapshot)[]
}
