import type { Engine } from '../cluster/options.js'
import type { Grant, Releaser } from '../core/releaser.js'
import type { HoldOptions } from '../options/lock_options.js'
import type { InKeyedScope } from '../options/scope_options.js'

/** A name has one holder of mode `'exclusive'` at a time, or any number of mode `'shared'`. */
export type LockMode = 'exclusive' | 'shared'

/** The options of a request to a {@link LockManager}: those of the Web Locks standard, and a few more. */
export interface LockRequestOptions {
  /** `'shared'`: shared with other requests of mode `'shared'`. @default 'exclusive' */
  mode?: LockMode | undefined
  /**
   * Acquires the lock now or not at all: when it is not available, the callback gets `null`, and `acquire` resolves to
   * undefined. @default false
   */
  ifAvailable?: boolean | undefined
  /**
   * Takes the lock now, from its holders and ahead of every waiter. The holders' promises reject with an `AbortError`,
   * but their callbacks keep running. Only for requests of mode `'exclusive'` at scope `'process'`. Other requests
   * reject with a `NotSupportedError`.
   *
   * @default false
   */
  steal?: boolean | undefined
  /**
   * Ends the wait when it aborts: the request leaves the queue, and rejects with `signal.reason`. It has no effect once
   * the callback has been called, or `acquire` has resolved. Not allowed with `ifAvailable` or `steal`.
   */
  signal?: AbortSignal | undefined
  /** Not in the standard. Requests of a higher priority go first; within a priority, first in, first out. @default 0 */
  priority?: number | undefined
  /**
   * Not in the standard. The longest wait in milliseconds, 0 or more. After it the request rejects with
   * `ERR_LOCK_TIMEOUT`.
   */
  timeout?: number | undefined
  /**
   * Not in the standard. The manager sets the scope, not the request: any other value is a RangeError.
   *
   * @default 'process'
   */
  scope?: 'process' | undefined
}

/**
 * The description of a held lock. It has no methods: the lock is released when the callback settles.
 *
 * @example
 * await locks.request('orders', { mode: 'shared' }, (lock) => {
 *   assert.deepEqual([lock.name, lock.mode], ['orders', 'shared'])
 * })
 */
export class Lock implements Grant {
  private constructor()
  /** The name of the lock, as the request gave it. */
  readonly name: string
  readonly mode: LockMode
  /** See {@link Grant.abandoned}. This and the properties below are not in the standard. */
  readonly abandoned: boolean
  /** See {@link Grant.fencingToken}. */
  readonly fencingToken?: bigint | undefined
  /** Aborts when the lock is stolen, or lost: over an engine, or at scope `'host'` after its `maxHold`. */
  readonly signal: AbortSignal
}

/** The callback of a request. It gets `null` when the request had `ifAvailable` and the lock was not available. */
export type LockGrantedCallback<T> = (lock: Lock | null) => T

/** A held lock or a pending request, as {@link LockManager.query} lists it. */
export interface LockInfo {
  /** The name of the lock. At scope `'host'` only the beginning of a long name that no lock of this thread has. */
  name: string
  /** Unknown for pending requests at scope `'host'`. */
  mode?: LockMode
  /**
   * The thread that holds the lock or waits for it: `node-<process id>-<thread id>`. At scope `'host'` the process:
   * `node-<process id>`.
   */
  clientId: string
}

export interface LockManagerSettings extends HoldOptions {
  /**
   * At scope `'host'` and over an engine: managers with different names have separate locks. At scope `'process'` the
   * constructor throws a TypeError for a name, because a process has one LockManager.
   */
  name?: string | undefined
}

export type LockManagerOptions = InKeyedScope<LockManagerSettings>

/** The result of {@link LockManager.query}. At scope `'host'` both lists have one entry for each name and process. */
export interface LockManagerSnapshot {
  /** The held locks. Those of one name are in the order of the grants, except at scope `'host'`. */
  held: LockInfo[]
  /** The waiting requests. Those for one name are in the order of the queue, except at scope `'host'`. */
  pending: LockInfo[]
}

/** Releases a lock of {@link LockManager.acquire}. */
export interface LockReleaser extends Releaser {
  /**
   * Aborts with an `AbortError` when the lock is stolen, and with `ERR_LOCK_LOST` when it is lost: over an
   * {@link Engine}, or at scope `'host'` after its `maxHold`.
   */
  readonly signal: AbortSignal
}

/**
 * The lock manager of the [Web Locks standard](https://w3c.github.io/web-locks/): named locks, shared by all threads of
 * the process. Code for `navigator.locks` runs with it unchanged. Within a priority requests of all threads are granted
 * strictly first in, first out.
 *
 * All objects of a process stand for one LockManager. When a thread ends, the next requests get its locks.
 *
 * A waiting request keeps its event loop alive while another thread could make the lock available, by a release or by
 * ending its own request. It does not keep it alive if this thread holds a lock of that name, unless that lock and the
 * request are both shared.
 *
 * @example
 * await locks.request('orders', async (lock) => {
 *   // alone, among all threads, until this settles
 * })
 *
 * @example
 * const answer = await locks.request('cache', { mode: 'shared', timeout: 1000 }, () => read())
 */
export class LockManager {
  /**
   * At scope `'host'` the processes of this machine share the locks: see {@link HostOptions}. Releasers have a
   * `fencingToken`, and locks cannot be stolen.
   *
   * With an `engine` all processes that use its server share the locks. Locks cannot be stolen. A `name` separates the
   * locks from those of other lock managers over the engine, and `query()` covers only this thread.
   *
   * @example
   * const manager = new LockManager({ scope: 'host', name: 'my server' })
   * await manager.request('leader', { ifAvailable: true }, async (lock) => {
   *   if (lock !== null) await lead() // this process only
   * })
   *
   * @throws {TypeError | RangeError} when an option is invalid; at scope `'host'` also the errors of
   * {@link HostOptions}.
   */
  constructor(options?: LockManagerOptions)

  /**
   * Calls `callback` with the lock once it is granted, never synchronously, and in the caller's async context. Holds
   * the lock until the callback has settled, and settles as the callback does. Never throws. Rejects with
   *
   * - the callback's error;
   * - a `TypeError` or `RangeError` for invalid arguments;
   * - a `DOMException` named `NotSupportedError` for a name that begins with `'-'`, for options that contradict each
   *   other, and at scope `'host'` and over an {@link Engine} for `steal`;
   * - a `DOMException` named `AbortError` when the lock has been stolen;
   * - `signal.reason` on abort, and `ERR_LOCK_TIMEOUT` when `timeout` ms have passed;
   * - at scope `'host'` `ERR_LOCK_CAPACITY` when there is no room for another name, and `ERR_LOCK_SEGMENT` when the files
   *   have been removed;
   * - over an engine `ERR_LOCK_ENGINE`, and `ERR_LOCK_LOST` when the lock is lost while the callback runs. The callback
   *   keeps running.
   *
   * @example
   * await locks.request('leader', { ifAvailable: true }, (lock) => {
   *   if (lock === null) return // another caller leads
   *   return lead()
   * })
   */
  request<T>(name: string, callback: LockGrantedCallback<T>): Promise<Awaited<T>>
  request<T>(
    name: string,
    options: LockRequestOptions,
    callback: LockGrantedCallback<T>,
  ): Promise<Awaited<T>>

  /**
   * Not in the standard: acquires a lock without a callback. The Releaser is `abandoned` if a thread died while it held
   * the lock exclusively, and no holder has been told yet. Rejects as {@link LockManager.request} does, except for
   * invalid arguments.
   *
   * @example
   * using held = await locks.acquire('orders', { timeout: 1000 })
   * await fetch(url, { signal: held.signal })
   *
   * @throws {TypeError | RangeError} at once when an argument is invalid.
   * @throws {DOMException} at once, named `NotSupportedError`, for a name that begins with `'-'` and for options that
   * contradict each other.
   */
  acquire(
    name: string,
    options: LockRequestOptions & { ifAvailable: true },
  ): Promise<LockReleaser | undefined>
  acquire(
    name: string,
    options?: LockRequestOptions & { ifAvailable?: false | undefined },
  ): Promise<LockReleaser>
  acquire(name: string, options: LockRequestOptions): Promise<LockReleaser | undefined>

  /**
   * Resolves to the locks that are held and requested at this moment: by all threads, at scope `'host'` by all
   * processes, and over an engine by this thread only.
   */
  query(): Promise<LockManagerSnapshot>
}

/**
 * The LockManager of this process, ready for use.
 *
 * @example
 * await locks.request('orders', async () => sell())
 */
export const locks: LockManager

/**
 * Makes {@link locks} the `navigator.locks` of this thread, in place of Node's own. Returns `locks`.
 *
 * @example
 * installNavigatorLocks()
 * await navigator.locks.request('orders', async () => sell())
 */
export function installNavigatorLocks(): LockManager
