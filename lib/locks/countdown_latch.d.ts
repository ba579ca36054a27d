import type { LockOptions } from '../lock_options.js'
import type { GateOptions, GateSyncWaitOptions, GateWaitOptions } from './gate.js'
import type { Mutex } from './mutex.js'

/**
 * Opens, once and for good, when it has been counted down to zero: "when all of these have happened".
 *
 * A latch with a name that has been counted is not as it was at first, and stays so for as long as the
 * process lives (see {@link LockOptions.name}): another countdown needs another name.
 *
 * @example
 * // Serve when all three are there.
 * const ready = new CountdownLatch(3)
 * for (const part of ['database', 'cache', 'mail']) {
 *   connect(part).then(() => ready.countDown())
 * }
 * await ready.wait({ timeout: 5000 })
 *
 * async function connect(part) {}
 *
 * @example
 * // The same over threads: each of them constructs it with the same name and the same count.
 * const started = new CountdownLatch(2, { name: 'started' })
 * // In each of two workers, when it is up:
 * new CountdownLatch(2, { name: 'started' }).countDown()
 * new CountdownLatch(2, { name: 'started' }).countDown()
 * await started.wait()
 */
export class CountdownLatch {
  /**
   * @param count How often it is to be counted down: 0 (it is open) to 2^31 - 1. The same in all threads
   * that share it.
   * @throws {TypeError | RangeError} when `count` or an option is not what it should be.
   * @throws {Error} `ERR_LOCK_MISMATCH` when it is there already and began with another count, or another
   * kind of lock is.
   * @throws {Error} `ERR_LOCK_UNSUPPORTED` at scope `'host'` and over an engine: docs/scopes.md says what to use there.
   */
  constructor(count: number, options?: GateOptions)

  /** How much is left: 0 once it is open. In the next moment it may be less, and never more. */
  readonly count: number

  /**
   * Counts down, and opens it at zero for all who wait and all who come.
   *
   * @param n How much at once: 1 to 2^31 - 1. @default 1
   * @throws {RangeError} `ERR_LOCK_RANGE` when fewer than `n` are left: nothing has changed.
   * @throws {TypeError | RangeError} when `n` is no positive integer.
   */
  countDown(n?: number): void

  /**
   * Resolves when it is open. Rejects with `ERR_LOCK_TIMEOUT` when `timeout` passed first and with
   * `signal.reason` on abort; neither changes anything for the others. Where threads share the latch, a
   * pending wait keeps the process alive as long as there is another thread that has loaded this package; a
   * latch of this thread alone keeps nothing alive.
   *
   * @throws {TypeError | RangeError} at once when an option is not what it should be.
   */
  wait(options?: GateWaitOptions): Promise<void>

  /**
   * The same, and blocks this thread.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first; `ERR_LOCK_DEADLOCK` when it is not open
   * and no other thread knows it.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given.
   */
  waitSync(options?: GateSyncWaitOptions): void

  /** Whether it is open. */
  tryWait(): boolean

  /** The memory it lies in: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** Where in `buffer`, in bytes. */
  readonly byteOffset: number
}
