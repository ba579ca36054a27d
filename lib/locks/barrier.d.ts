import type { CountdownLatch } from './countdown_latch.js'
import type { GateOptions, GateSyncWaitOptions, GateWaitOptions } from './gate.js'
import type { Mutex } from './mutex.js'

/**
 * Everybody waits here until all parties have come; then all go on, and the next round may begin at once.
 * Rounds never mix: whoever comes early for the next one waits for the others to come again.
 *
 * A party that gives up (`timeout`, `signal`), or whose thread ends while it waits, breaks the barrier, since
 * the others would wait for ever: they reject with `ERR_LOCK_BROKEN`, and so do all who come until
 * {@link Barrier.reset}. A round passes for all of its parties or for none. Of a thread that ends before it
 * has come nothing is known: give a `timeout` where that may happen.
 *
 * @example
 * // Three workers compute a step each, and nobody begins the next one before all have ended this one.
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
 * // One of them does what is to be done once a round: the last to come, whose wait resolves to 0.
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
 * // One gives up: it hears its own reason, the others that the barrier is broken.
 * const barrier = new Barrier(3)
 * const [late, other] = await Promise.allSettled([barrier.wait({ timeout: 5 }), barrier.wait()])
 * if (late.reason.code !== 'ERR_LOCK_TIMEOUT') throw late.reason
 * if (other.reason.code !== 'ERR_LOCK_BROKEN') throw other.reason
 * barrier.reset()
 */
export class Barrier {
  /**
   * @param parties How many a round needs: 1 to 2^30 - 1. The same in all threads that share it.
   * @throws {TypeError | RangeError} when `parties` or an option is not what it should be.
   * @throws {Error} `ERR_LOCK_MISMATCH` when it is there already with another number of parties, or
   * another kind of lock is.
   * @throws {Error} `ERR_LOCK_UNSUPPORTED` at scope `'host'` and over an engine: docs/scopes.md says what to use there.
   */
  constructor(parties: number, options?: GateOptions)

  /** How many a round needs. */
  readonly parties: number
  /** How many have come in this round and wait: 0 to `parties` - 1, and 0 while it is broken. */
  readonly waiting: number

  /**
   * Comes, and resolves when all parties have: to how many were still missing then, a number of its own
   * for each party of a round, from `parties` - 1 for the first to come to 0 for the last. Order among
   * promises of one thread: as they came.
   *
   * Rejects with `ERR_LOCK_TIMEOUT` when `timeout` passed first and with `signal.reason` on abort, also
   * when the signal was aborted before: either breaks the barrier, unless the round was complete already.
   * A `timeout` of 0 passes for the last to come, and breaks it for any other. Rejects with
   * `ERR_LOCK_BROKEN` when another gave up, or the barrier was broken or reset. A pending wait keeps the
   * process alive as {@link CountdownLatch.wait} does.
   *
   * @throws {TypeError | RangeError} at once when an option is not what it should be: it has not come then,
   * and nothing is broken.
   */
  wait(options?: GateWaitOptions): Promise<number>

  /**
   * The same, and blocks this thread.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first, and `ERR_LOCK_BROKEN`: as above.
   * `ERR_LOCK_DEADLOCK` when others are missing and no other thread knows the barrier: it has not come then.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given.
   */
  waitSync(options?: GateSyncWaitOptions): number

  /** Breaks it: all who wait, and all who come until `reset()`, reject with `ERR_LOCK_BROKEN`. */
  break(): void
  /** Starts anew. Those who wait reject with `ERR_LOCK_BROKEN`; whoever comes from now on is of a new round. */
  reset(): void
  isBroken(): boolean

  /** The memory it lies in: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** Where in `buffer`, in bytes. */
  readonly byteOffset: number
}
