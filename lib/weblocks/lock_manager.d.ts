import type { Engine, EngineChoice } from '../cluster/options.js'
import type { Grant, Releaser } from '../core/releaser.js'
import type { HostOptions, KeyedHostOptions } from '../host/options.js'
import type { MaxHoldOptions } from '../lock_options.js'

export type LockMode = 'exclusive' | 'shared'

/** How to ask a {@link LockManager} for a lock: as the Web Locks standard has it, and a little more. */
export interface LockRequestOptions {
  /** `'shared'`: together with others who want it shared. @default 'exclusive' */
  mode?: LockMode
  /** Now or not at all: the callback is given `null`, and `acquire` resolves to undefined. @default false */
  ifAvailable?: boolean
  /**
   * Now, from whoever holds it, and before all who wait. Their promises reject with an `AbortError`, and what
   * they do goes on all the same. For exclusive locks of scope `'process'`: wider scopes reject it with a
   * `NotSupportedError`. @default false
   */
  steal?: boolean
  /**
   * Takes the request out of the queue: it rejects with `signal.reason`. No effect once the callback has been
   * called, or `acquire` has resolved. Not with `ifAvailable` or `steal`.
   */
  signal?: AbortSignal
  /** Not in the standard. Higher goes first; first come, first served within a priority. @default 0 */
  priority?: number
  /**
   * Not in the standard. The longest wait in milliseconds, 0 or more: then the request rejects with
   * `ERR_LOCK_TIMEOUT`.
   */
  timeout?: number
  /** Not in the standard. How far a lock reaches is the manager's to say, and not a request's: else a RangeError. @default 'process' */
  scope?: 'process'
}

/**
 * What a lock is that somebody holds. It is a description: nothing is locked or freed by it.
 *
 * @example
 * await locks.request('orders', { mode: 'shared' }, (lock) => {
 *   assert.deepEqual([lock.name, lock.mode], ['orders', 'shared'])
 * })
 */
export class Lock implements Grant {
  private constructor()
  readonly name: string
  readonly mode: LockMode
  /** Not in the standard, as the two below: see {@link Grant.abandoned}. */
  readonly abandoned: boolean
  /** See {@link Grant.fencingToken}. */
  readonly fencingToken?: bigint
  /** Aborts when the lock is stolen, or over an engine lost. */
  readonly signal: AbortSignal
}

export type LockGrantedCallback<T> = (lock: Lock | null) => T

export interface LockInfo {
  name: string
  /** Of scope `'host'`, what somebody wants who waits is not known. */
  mode?: LockMode
  /**
   * The thread that holds it or waits for it, `node-<process id>-<thread id>`; of scope `'host'` the process,
   * `node-<process id>`.
   */
  clientId: string
}

/** @see KeyedHostOptions */
export interface LockManagerOptions extends KeyedHostOptions, EngineChoice, MaxHoldOptions {
  /** Of scope `'host'`, or with an engine: what keeps its names apart from those of others. All others are one, and have none. */
  name?: string
}

export interface LockManagerSnapshot {
  /** In the order of the grants, for each name. */
  held: LockInfo[]
  /** In the order of the queue, for each name. */
  pending: LockInfo[]
}

/** Lets go of what {@link LockManager.acquire} has given. */
export interface LockReleaser extends Releaser {
  /** Aborted with an `AbortError` when the lock has been stolen, over an {@link Engine} with `ERR_LOCK_LOST` when it has been lost. Never aborted in scope `'host'`. */
  readonly signal: AbortSignal
}

/**
 * The lock manager of the [Web Locks standard](https://w3c.github.io/web-locks/): locks by name, shared by all
 * threads of the process. What runs with `navigator.locks` runs with this. Strictly first come, first served
 * among threads, too, within a priority.
 *
 * All lock managers of a process are one. When a thread ends, what it held goes to the next.
 *
 * A request that waits keeps its event loop alive while another thread could let it in by letting go or giving
 * up: not where this very thread holds a lock of that name, unless both that and the request are shared.
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
   * Of scope `'host'` its locks reach as far as the processes of this machine: see {@link HostOptions}. A Releaser has a
   * `fencingToken` there, too. Nothing can be stolen there.
   *
   * With an `engine` they reach as far as that: nothing can be stolen there either, a `name` keeps its names apart from those of other
   * lock managers over the same engine, and `query()` tells of this thread.
   *
   * @example
   * const manager = new LockManager({ scope: 'host', name: 'my server' })
   * await manager.request('leader', { ifAvailable: true }, async (lock) => {
   *   if (lock !== null) await lead() // this process only
   * })
   *
   * @throws {TypeError | RangeError} for bad options, and what {@link HostOptions} says.
   */
  constructor(options?: LockManagerOptions)

  /**
   * Calls `callback` with the lock once it is granted, never synchronously, in the caller's async context, and
   * holds the lock until what it returns has settled: that is what the promise settles to.
   *
   * Everything that goes wrong rejects: a `TypeError` or `RangeError` for bad arguments; a `DOMException` named
   * `NotSupportedError` for a name that begins with `'-'` and for options that contradict each other, named
   * `AbortError` when the lock has been stolen; `signal.reason`; `ERR_LOCK_TIMEOUT`; and what the callback
   * throws. Of scope `'host'` and over an {@link Engine} also `NotSupportedError` for `steal`; over an engine
   * `ERR_LOCK_ENGINE`, and `ERR_LOCK_LOST` when the lock is lost while the callback runs, which goes on; of scope
   * `'host'` `ERR_LOCK_CAPACITY`.
   *
   * @example
   * await locks.request('leader', { ifAvailable: true }, (lock) => {
   *   if (lock === null) return // somebody else leads
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
   * Not in the standard: a lock without a callback. Its Releaser says `abandoned` when a thread died that held
   * the lock exclusively, and nobody has been told before; `signal` tells of a theft. Rejects as `request` does.
   *
   * @example
   * using held = await locks.acquire('orders', { timeout: 1000 })
   * await fetch(url, { signal: held.signal })
   *
   * @throws {TypeError} for bad arguments; a RangeError, and a DOMException named `NotSupportedError`, as
   * `request` rejects with.
   */
  acquire(
    name: string,
    options: LockRequestOptions & { ifAvailable: true },
  ): Promise<LockReleaser | undefined>
  acquire(
    name: string,
    options?: LockRequestOptions & { ifAvailable?: false },
  ): Promise<LockReleaser>
  acquire(name: string, options: LockRequestOptions): Promise<LockReleaser | undefined>

  /** What is held and waited for in this moment, by all threads; of scope `'host'` by all processes, over an engine by this thread. */
  query(): Promise<LockManagerSnapshot>
}

/**
 * The lock manager of this process, ready for use.
 *
 * @example
 * await locks.request('orders', async () => sell())
 */
export const locks: LockManager

/**
 * Makes {@link locks} `navigator.locks`, for code that looks for it there; in place of Node's own, where there is
 * one. For each thread that asks for it. Returns `locks`.
 *
 * @example
 * installNavigatorLocks()
 * await navigator.locks.request('orders', async () => sell())
 */
export function installNavigatorLocks(): LockManager
