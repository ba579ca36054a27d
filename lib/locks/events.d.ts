import type { SyncWaitOptions, WaitOptions } from '../core/options.js'
import type { BufferOptions, LockOptions } from '../lock_options.js'
import type { Mutex } from './mutex.js'

export interface EventOptions extends LockOptions, BufferOptions {
  /** Whether it is set at first. @default false */
  isSet?: boolean
}

/** What AutoResetEvent and ManualResetEvent have in common. */
declare abstract class WaitableEvent {
  /**
   * Resolves when it lets this one through. Rejects with `ERR_LOCK_TIMEOUT` when `timeout` has passed before, and with
   * `signal.reason` on abort.
   *
   * @param options or a priority.
   * @throws {TypeError | RangeError} at once when an option is not what it should be.
   */
  wait(options?: number | WaitOptions): Promise<void>

  /**
   * The same, and blocks this thread.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first; `ERR_LOCK_DEADLOCK` when no other
   * thread knows the event.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given.
   */
  waitSync(options?: SyncWaitOptions): void

  /** Goes through now, or says no. */
  tryWait(): boolean
  /** Whether it would let somebody through: in the next moment that may have changed. */
  isSet(): boolean

  /** The memory it lies in: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** Where in `buffer`, in bytes. */
  readonly byteOffset: number
}

/**
 * Lets one waiter through for each signal. A signal that finds nobody is kept for the next to come; more of
 * them are one.
 *
 * @example
 * // Somebody who sleeps until there is work. (A worker with no promises of its own may block: waitSync.)
 * const jobs = []
 * const done = []
 * const work = new AutoResetEvent()
 * const working = (async () => {
 *   while (done.length < 3) {
 *     await work.wait()
 *     done.push(...jobs.splice(0)) // all there is: signals that come together are one
 *   }
 * })()
 *
 * for (const job of ['a', 'b', 'c']) {
 *   jobs.push(job)
 *   work.signal()
 * }
 * await working
 * assert.deepEqual(done, ['a', 'b', 'c'])
 */
export class AutoResetEvent extends WaitableEvent {
  /**
   * @throws {TypeError | RangeError} when an option is not what it should be.
   * @throws {Error} `ERR_LOCK_MISMATCH` when another kind of lock lies there.
   * @throws {Error} `ERR_LOCK_UNSUPPORTED` at scope `'host'` and over an engine: docs/scopes.md says what to use there.
   */
  constructor(options?: EventOptions)
  /** Lets the next one through, be it there already or not. */
  signal(): void
}

/**
 * Lets everybody through while it is set.
 *
 * @example
 * const ready = new ManualResetEvent()
 * connect().then(() => ready.set())
 * app.use((_request, _response, next) => {
 *   ready.wait({ timeout: 5000 }).then(next, next)
 * })
 */
export class ManualResetEvent extends WaitableEvent {
  /**
   * @throws {TypeError | RangeError} when an option is not what it should be.
   * @throws {Error} `ERR_LOCK_MISMATCH` when another kind of lock lies there.
   * @throws {Error} `ERR_LOCK_UNSUPPORTED` at scope `'host'` and over an engine: docs/scopes.md says what to use there.
   */
  constructor(options?: EventOptions)
  /** Lets through all who wait, and all who come, until `reset()`. */
  set(): void
  reset(): void
}

// biome-ignore lint/complexity/noUselessEmptyExport: without it, all of this file would be exported.
export {}
