import type { AcquireOptions, IfAvailable, SyncWaitOptions } from '../core/options.js'
import type { Grant, Releaser, TryRunResult } from '../core/releaser.js'
import type { LockOptions, WaitDefaults } from '../options/lock_options.js'

/** `maxPending` counts the callers that wait for one fork. */
export interface DiningPhilosophersOptions extends LockOptions, WaitDefaults {}

/**
 * Philosophers around a table, with one fork between two seats. A philosopher needs both forks to eat, so neighbours
 * never eat at once, all others may, and there is no deadlock. Use it for tasks in a ring, where each task shares one
 * resource with the task before it and one with the task after it.
 *
 * The forks are mutexes, and every philosopher acquires its two in one order. Each fork has a first-in, first-out
 * queue, so that no philosopher starves. Several callers at one seat take turns. When a thread ends while it eats, the
 * neighbours acquire its forks, and their grants are `abandoned`.
 *
 * @example
 * const table = new DiningPhilosophers(5)
 * await table.begin(0)
 * if (table.tryBegin(1) !== undefined) throw new Error('a neighbour eats')
 * await table.runExclusive(2, () => {
 *   // two of them eat
 * })
 * table.end(0)
 *
 * @example
 * // Stages in a ring, each with a queue to the next one: a stage uses the queues on its two sides.
 * const queues = [['a'], [], []]
 * const stages = new DiningPhilosophers(queues.length, { name: 'stages' })
 * const move = (stage) =>
 *   stages.runExclusive(stage, () => {
 *     const next = queues[(stage + 1) % queues.length]
 *     next.push(...queues[stage].splice(0))
 *   })
 * await Promise.all([move(0), move(1), move(2)])
 */
export class DiningPhilosophers {
  /**
   * @param seats The number of seats: 1 to 2^31 - 1. The same in all threads that share the table. A fork takes memory
   * only while it is held or waited for.
   * @param options `fairness` applies to the forks. There is no `buffer`: threads share a table by its name. A
   * table keeps its number of seats as long as a thread has an object for it or eats at it.
   * @throws {TypeError | RangeError} when `seats` or an option is invalid.
   * @throws {Error} `ERR_LOCK_MISMATCH` when a table of that name has another number of seats.
   * @throws {Error} `ERR_LOCK_UNSUPPORTED` at scope `'host'` and over an engine: docs/scopes.md says what to use there.
   */
  constructor(seats: number, options?: DiningPhilosophersOptions)

  /** The number of seats. */
  readonly seats: number

  /**
   * Acquires both forks of `seat`, 0 to `seats` - 1. {@link DiningPhilosophers.end} or the Releaser ends the meal.
   *
   * Rejects with `ERR_LOCK_TIMEOUT` when `timeout` ms have passed, with `signal.reason` on abort, and with
   * `ERR_LOCK_QUEUE_FULL` when `maxPending` callers wait for a fork. Then the caller holds no fork.
   *
   * @param options or a priority.
   * @throws {TypeError | RangeError} at once when `seat` or an option is invalid.
   */
  begin(seat: number, options: IfAvailable): Promise<Releaser | undefined>
  begin(seat: number, options?: number | AcquireOptions): Promise<Releaser>

  /**
   * Begins as {@link DiningPhilosophers.begin} does, and blocks this thread until it has both forks.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` ms have passed; `ERR_LOCK_DEADLOCK` when this thread already
   * holds a fork of the seat, or a promise of this thread waits for one.
   * @throws {TypeError} on the main thread unless `allowBlockingMainThread` is set.
   */
  beginSync(seat: number, options?: SyncWaitOptions): Releaser

  /**
   * Acquires both forks now, or returns undefined and holds none.
   *
   * @throws {TypeError | RangeError} when there is no such seat.
   */
  tryBegin(seat: number): Releaser | undefined

  /**
   * Ends the meal at `seat`.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when no caller of this thread eats there.
   * @throws {TypeError | RangeError} when there is no such seat.
   */
  end(seat: number): void

  /**
   * Acquires both forks of `seat`, runs `callback`, and releases when the callback has settled, also when it throws.
   * The callback never runs before this method has returned. Rejects with the callback's error, with what
   * {@link DiningPhilosophers.begin} rejects with, and with a TypeError or RangeError when an argument is invalid.
   */
  runExclusive<T>(
    seat: number,
    callback: (grant: Grant) => Promise<T> | T,
    options: IfAvailable,
  ): Promise<T | undefined>
  runExclusive<T>(
    seat: number,
    callback: (grant: Grant) => Promise<T> | T,
    options?: number | AcquireOptions,
  ): Promise<T>

  /** {@link Mutex.tryRunExclusive} with both forks of `seat`. */
  tryRunExclusive<T>(
    seat: number,
    callback: (grant: Grant) => Promise<T> | T,
  ): Promise<TryRunResult<T>>

  /**
   * Begins as {@link DiningPhilosophers.beginSync} does, runs `callback`, releases, and returns the callback's result.
   * If `callback` is an async function, this releases the forks at its first `await`.
   */
  runExclusiveSync<T>(seat: number, callback: (grant: Grant) => T, options?: SyncWaitOptions): T
}
