import type { SyncWaitOptions, WaitOptions } from '../core/options.js'
import type { HostOptions } from '../host/options.js'
import type { BufferOptions, LockOptions } from '../options/lock_options.js'
import type { InLocalScope } from '../options/scope_options.js'
import type { Mutex } from './mutex.js'

export interface EventSettings extends LockOptions, BufferOptions {
  /** Whether the event is set from the start. The same in all processes at scope `'host'`. @default false */
  isSet?: boolean | undefined
}

export type EventOptions = InLocalScope<EventSettings>

/** The methods that AutoResetEvent and ManualResetEvent share. */
declare abstract class WaitableEvent {
  /**
   * Resolves when the event admits this waiter. Rejects with `ERR_LOCK_TIMEOUT` when `timeout` ms have passed, and with
   * `signal.reason` on abort. A waiter that is rejected leaves the queue at once. A pending wait keeps the process alive
   * as `CountdownLatch.wait()` does.
   *
   * @param options or a priority.
   * @throws {TypeError | RangeError} at once when an option is invalid.
   */
  wait(options?: number | WaitOptions): Promise<void>

  /**
   * Waits as `wait()` does, and blocks this thread.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` ms have passed; `ERR_LOCK_DEADLOCK` when the event is not set and
   * belongs to this thread only.
   * @throws {TypeError} on the main thread unless `allowBlockingMainThread` is set.
   */
  waitSync(options?: SyncWaitOptions): void

  /** Whether the event admits this caller now. If it does, an AutoResetEvent is no longer set. */
  tryWait(): boolean
  /** Whether the event would admit a waiter. Another thread may change that at any time. */
  isSet(): boolean

  /** The shared memory of the event: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** The event's offset in `buffer`, in bytes. */
  readonly byteOffset: number
}

/**
 * Admits one waiter for each signal. A signal that finds no waiter is kept for the next waiter; several such signals
 * count as one.
 *
 * If a thread or a process ends before its admitted waiter has run, another waiter gets the signal. A signal that a
 * thread gives to its own waiter is lost with the thread. At scope `'host'` the waiting processes take turns,
 * `priority` orders the waiters of one process, and there is no `fairness: 'fifo'`. The event begins anew when every
 * process that has constructed it has ended.
 *
 * @example
 * // A loop that sleeps until there is work. (A worker thread with no promises of its own may block: waitSync.)
 * const jobs = []
 * const done = []
 * const work = new AutoResetEvent()
 * const working = (async () => {
 *   while (done.length < 3) {
 *     await work.wait()
 *     done.push(...jobs.splice(0)) // all jobs: signals that come together count as one
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
   * @throws {TypeError | RangeError} when an option is invalid.
   * @throws {Error} `ERR_LOCK_MISMATCH` when a lock of another kind is in the buffer there.
   * @throws {Error} `ERR_LOCK_UNSUPPORTED` over an engine: docs/scopes.md says what to use there. At scope `'host'` also
   * the errors of {@link HostOptions}.
   */
  constructor(options?: EventOptions)
  /** Admits one waiter: the head of the queue, or else the next one to arrive. */
  signal(): void
}

/**
 * Admits every waiter while it is set. At scope `'host'` the event begins anew when every process that has constructed
 * it has ended.
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
   * @throws {TypeError | RangeError} when an option is invalid.
   * @throws {Error} `ERR_LOCK_MISMATCH` when a lock of another kind is in the buffer there.
   * @throws {Error} `ERR_LOCK_UNSUPPORTED` over an engine: docs/scopes.md says what to use there. At scope `'host'` also
   * the errors of {@link HostOptions}.
   */
  constructor(options?: EventOptions)
  /** Admits every waiter, and every later one until `reset()`. */
  set(): void
  /** Makes new callers wait. Waiters that `set()` has admitted stay admitted. */
  reset(): void
}

// biome-ignore lint/complexity/noUselessEmptyExport: without it, all of this file would be exported.
export {}
