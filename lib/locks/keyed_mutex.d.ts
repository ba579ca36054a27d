import type { Key } from '../core/keys.js'
import type { AcquireOptions, IfAvailable, SyncWaitOptions, WaitOptions } from '../core/options.js'
import type { Grant, Releaser, TryRunResult } from '../core/releaser.js'
import type { HostOptions } from '../host/options.js'
import type { Closable } from './closable.js'
import type { CutKey, KeyedMutexOptions } from './keyed.js'
import type { Mutex, MutexSnapshot } from './mutex.js'

/**
 * One mutex for each key. A key takes memory only while it is held or waited for, so keys need neither creation nor
 * clean-up. (For speed, up to 256 idle keys are remembered.) Each key behaves as a {@link Mutex} does, also after the
 * death of its holder.
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
 * // Several keys at once: in whatever order callers name them, they cannot deadlock.
 * const transfer = (from, to) => locks.runExclusive([from, to], () => move(from, to))
 * await Promise.all([transfer('ada', 'bob'), transfer('bob', 'ada')])
 *
 * @example
 * // Functions that lock the same key and call each other.
 * const carts = new KeyedMutex({ reentrant: true })
 * const items = []
 * const addItem = (user, item) => carts.runExclusive(user, async () => items.push(`${user}: ${item}`))
 * const checkout = (user) => carts.runExclusive(user, () => addItem(user, 'postage'))
 * await checkout('ada')
 * assert.deepEqual(items, ['ada: postage'])
 *
 * @example
 * // One map for all threads.
 * const locks = new KeyedMutex({ name: 'tickets' })
 */
export class KeyedMutex implements Closable {
  /**
   * A map of mutexes of this thread. With a `name` all threads of this process share it, with `scope: 'host'` all
   * processes of this user on this machine, and with an `engine` all machines that use its server. Over an engine all
   * keyed mutexes of one server and prefix that have no `name` are one map.
   *
   * Throws as the constructor of a {@link Mutex} does; at scope `'host'` see {@link HostOptions}.
   *
   * @param options or the error that `cancel()` rejects with.
   */
  constructor(options?: Error | KeyedMutexOptions)

  /**
   * Acquires a key, or all of several keys, after waiting in their queues. It acquires several keys one after the
   * other, each key once, in an order that all callers share. `timeout` covers all of them together, and a caller that
   * times out or is aborted holds none. With an empty list the call acquires no key and does not wait. Rejects as
   * {@link Mutex.acquire} does. Rejects with `ERR_LOCK_LOST` if it loses a key while it waits for the next one: because
   * `maxHold` is over, or because the engine lost the lease.
   *
   * @param options a bare number is a TypeError, because it may be meant as a timeout or as a priority.
   * @throws {TypeError | RangeError} at once when the one key or an option is invalid; with several keys the promise
   * rejects.
   * @throws {Error} `ERR_LOCK_CAPACITY` at scope `'host'`, at once, when the lock's file has no room for the one key; with
   * several keys the promise rejects.
   */
  acquire(key: Key | readonly Key[], options: IfAvailable): Promise<Releaser | undefined>
  acquire(key: Key | readonly Key[], options?: AcquireOptions): Promise<Releaser>
  /** Acquires all keys now, or returns undefined and holds none. */
  tryAcquire(key: Key | readonly Key[]): Releaser | undefined
  /**
   * Runs `callback` while it holds the keys, as {@link Mutex.runExclusive} does.
   *
   * @param options a bare number is a TypeError, because it may be meant as a timeout or as a priority.
   */
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
  /** {@link KeyedMutex.runExclusive} under its name in the article https://v8.dev/features/atomics. */
  executeLocked<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => Promise<T> | T,
    options: IfAvailable,
  ): Promise<T | undefined>
  executeLocked<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => Promise<T> | T,
    options?: AcquireOptions,
  ): Promise<T>

  /** {@link Mutex.tryRunExclusive}, for one key or several: it runs if all of them are available. */
  tryRunExclusive<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => Promise<T> | T,
  ): Promise<TryRunResult<T>>

  /** As {@link Mutex.lock}. */
  lock(key: Key, options?: AcquireOptions): Promise<void>
  /** As {@link Mutex.tryLock}. */
  tryLock(key: Key): boolean

  /** As {@link Mutex.lockSync}. */
  lockSync(key: Key, options?: SyncWaitOptions): void
  /** As {@link Mutex.acquireSync}, for one key or several; `timeout` covers all of them together. */
  acquireSync(key: Key | readonly Key[], options?: SyncWaitOptions): Releaser
  /** As {@link Mutex.runExclusiveSync}, for one key or several. */
  runExclusiveSync<T>(
    key: Key | readonly Key[],
    callback: (grant: Grant) => T,
    options?: SyncWaitOptions,
  ): T

  /** Releases the key. @throws {Error} `ERR_LOCK_NOT_HELD` when this thread does not hold it. */
  unlock(key: Key): void
  /**
   * Releases the key for any holder of this thread. Does nothing when the key is free.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when another thread holds it.
   */
  release(key: Key): void

  /** As {@link Mutex.waitForUnlock}. */
  waitForUnlock(key: Key, options?: WaitOptions): Promise<void>
  /** Whether the key is held. Another thread may change that at any time. */
  isLocked(key: Key): boolean
  /** Rejects every waiter of this thread for this key, as {@link Mutex.cancel} does. */
  cancel(key: Key | CutKey, reason?: unknown): void
  /** Rejects every waiter of this thread, for every key. */
  cancelAll(reason?: unknown): void

  /** {@link Closable.close} */
  close(): Promise<void>
  /** {@link Closable.onIdle} */
  onIdle(): Promise<void>

  /**
   * The number of keys that are held or waited for, by any thread if threads share the map. In a shared map a key whose
   * holder died counts until the next holder has been told, and reading this property takes time in proportion to the
   * keys.
   */
  readonly size: number
  /** The keys that are held or waited for at this moment. */
  keys(): IterableIterator<Key | CutKey>
  /** The state of each key that is held or waited for. */
  snapshot(): ({ key: Key | CutKey } & MutexSnapshot)[]
}
