import type { LockOptions } from '../options/lock_options.js'
import type { GateOptions, GateSyncWaitOptions, GateWaitOptions } from './gate.js'
import type { Mutex } from './mutex.js'

/**
 * Opens for good when its count has reached zero. Wait for it to wait until several things have happened.
 *
 * A named latch keeps its count for as long as the process lives (see {@link LockOptions.name}): another countdown
 * needs another name. At scope `'host'` it keeps its count until every process that has constructed it has ended.
 *
 * The latch does not notice a thread or a process that ends before it has counted down. If that may happen, give a
 * `timeout`.
 *
 * @example
 * // Serve when all three are ready.
 * const ready = new CountdownLatch(3)
 * for (const part of ['database', 'cache', 'mail']) {
 *   connect(part).then(() => ready.countDown())
 * }
 * await ready.wait({ timeout: 5000 })
 *
 * async function connect(part) {}
 *
 * @example
 * // Shared by threads: each thread constructs it with the same name and the same count.
 * const started = new CountdownLatch(2, { name: 'started' })
 * // In each of two workers, when it is ready:
 * new CountdownLatch(2, { name: 'started' }).countDown()
 * new CountdownLatch(2, { name: 'started' }).countDown()
 * await started.wait()
 */
export class CountdownLatch {
  /**
   * @param count The initial count: 0 (the latch is open) to 2^31 - 1. The same in all threads and processes that share the
   * latch.
   * @throws {TypeError | RangeError} when `count` or an option is invalid.
   * @throws {Error} `ERR_LOCK_MISMATCH` when the latch exists with another initial count, or the buffer contains a lock of
   * another kind at this offset.
   * @throws {Error} `ERR_LOCK_UNSUPPORTED` over an engine: docs/scopes.md says what to use there. At scope `'host'` also
   * the errors of {@link HostOptions}.
   */
  constructor(count: number, options?: GateOptions)

  /** The count that is left: 0 once the latch is open. It never rises. */
  readonly count: number

  /**
   * Subtracts `n` from the count. At zero the latch opens for every waiter, and stays open.
   *
   * @param n 1 to 2^31 - 1. @default 1
   * @throws {RangeError} `ERR_LOCK_RANGE` when the count is less than `n`. The count stays.
   * @throws {TypeError | RangeError} when `n` is not a positive integer.
   */
  countDown(n?: number): void

  /**
   * Resolves when the latch is open. Rejects with `ERR_LOCK_TIMEOUT` when `timeout` ms have passed, and with
   * `signal.reason` on abort; other waiters go on waiting.
   *
   * When threads share the latch, a pending wait keeps a worker alive, and it keeps the main thread alive as long as
   * another thread has loaded this package. At scope `'host'` it always keeps its thread alive. A wait for a latch of
   * one thread keeps nothing alive.
   *
   * @throws {TypeError | RangeError} at once when an option is invalid.
   */
  wait(options?: GateWaitOptions): Promise<void>

  /**
   * Waits as {@link CountdownLatch.wait} does, and blocks this thread.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` ms have passed; `ERR_LOCK_DEADLOCK` when the latch is not open and
   * belongs to this thread only.
   * @throws {TypeError} on the main thread unless `allowBlockingMainThread` is set.
   */
  waitSync(options?: GateSyncWaitOptions): void

  /** Whether the latch is open. */
  tryWait(): boolean

  /** The shared memory of the latch: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** The latch's offset in `buffer`, in bytes. */
  readonly byteOffset: number
}
