import type { CountdownLatch } from './countdown_latch.js'
import type { GateOptions, GateSyncWaitOptions, GateWaitOptions } from './gate.js'
import type { Mutex } from './mutex.js'

/**
 * Makes parties wait for each other: a round is over when all parties have arrived, and the next round begins at once.
 * Rounds never mix: a party that arrives early for the next round waits until the others arrive again.
 *
 * A party breaks the barrier if it times out, if it is aborted, or if its thread or process ends while it waits: the
 * others would wait for ever. Their waits, and all later waits until {@link Barrier.reset}, reject with
 * `ERR_LOCK_BROKEN`. A round passes for all of its parties or for none. The barrier does not notice a thread that ends
 * before it arrives: if that may happen, give a `timeout`. At scope `'host'` the barrier begins anew when every process
 * that has constructed it has ended.
 *
 * @example
 * // Three workers compute in steps. No worker begins a step before all have finished the last one.
 * const step = new Barrier(3)
 * const done = [0, 0, 0]
 * await Promise.all(
 *   done.map(async (_, worker) => {
 *     for (let round = 1; round <= 4; round++) {
 *       done[worker] = round
 *       await step.wait()
 *       if (done.some((other) => other < round)) throw new Error('too early')
 *       await step.wait()
 *     }
 *   }),
 * )
 *
 * @example
 * // The wait of the last party resolves to 0. That party does the work of the round.
 * const barrier = new Barrier(2, { name: 'halves' })
 * const sums = []
 * let total
 * const half = async (numbers) => {
 *   sums.push(numbers.reduce((a, b) => a + b))
 *   if ((await barrier.wait({ timeout: 1000 })) === 0) total = sums[0] + sums[1]
 * }
 * await Promise.all([half([1, 2]), half([3, 4])]) // total is 10
 *
 * @example
 * // A party that times out gets its own error; the others get ERR_LOCK_BROKEN.
 * const barrier = new Barrier(3)
 * const [late, other] = await Promise.allSettled([barrier.wait({ timeout: 5 }), barrier.wait()])
 * if (late.reason.code !== 'ERR_LOCK_TIMEOUT') throw late.reason
 * if (other.reason.code !== 'ERR_LOCK_BROKEN') throw other.reason
 * barrier.reset()
 */
export class Barrier {
  /**
   * @param parties The number of parties in a round: 1 to 2^30 - 1. The same in all threads and processes that share
   * the barrier.
   * @throws {TypeError | RangeError} when `parties` or an option is invalid.
   * @throws {Error} `ERR_LOCK_MISMATCH` when the barrier exists with another number of parties, or the buffer contains a
   * lock of another kind at this offset.
   * @throws {Error} `ERR_LOCK_UNSUPPORTED` over an engine: docs/scopes.md says what to use there. At scope `'host'` also
   * the errors of {@link HostOptions}.
   */
  constructor(parties: number, options?: GateOptions)

  /** The number of parties in a round. */
  readonly parties: number
  /** The number of parties that wait in this round: 0 to `parties` - 1, and 0 while the barrier is broken. */
  readonly waiting: number

  /**
   * Counts this party in, and resolves when all parties of the round have arrived. It resolves to the number of parties
   * that were still missing when this party arrived: `parties` - 1 for the first, 0 for the last, and a different
   * number for each party. Promises of one thread resolve in the order of arrival.
   *
   * Rejects with `ERR_LOCK_TIMEOUT` when `timeout` ms have passed, and with `signal.reason` on abort, also when the
   * signal was aborted before the call. Both break the barrier, unless the round is complete. With a `timeout` of 0
   * the last party passes, and any other party breaks the barrier. Rejects with `ERR_LOCK_BROKEN` when another party
   * breaks the barrier, or when `break()` or `reset()` is called. A pending wait keeps the process alive as
   * {@link CountdownLatch.wait} does.
   *
   * @throws {TypeError | RangeError} at once when an option is invalid. Then the party is not counted in, and the barrier
   * is not broken.
   */
  wait(options?: GateWaitOptions): Promise<number>

  /**
   * Waits as {@link Barrier.wait} does, and blocks this thread.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` and `ERR_LOCK_BROKEN`, as above; `ERR_LOCK_DEADLOCK` when parties are missing and
   * the barrier belongs to this thread only. Then this party is not counted in.
   * @throws {TypeError} on the main thread unless `allowBlockingMainThread` is set.
   */
  waitSync(options?: GateSyncWaitOptions): number

  /** Breaks the barrier: every wait, and every later wait until `reset()`, rejects with `ERR_LOCK_BROKEN`. */
  break(): void
  /** Begins a new round. Waiters of the old round reject with `ERR_LOCK_BROKEN`. */
  reset(): void
  /** Whether the barrier is broken. */
  isBroken(): boolean

  /** The shared memory of the barrier: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** The barrier's offset in `buffer`, in bytes. */
  readonly byteOffset: number
}
