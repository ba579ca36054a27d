import type { AcquireOptions, IfAvailable, SyncWaitOptions } from '../core/options.js'
import type { Grant, Releaser } from '../core/releaser.js'
import type { LockOptions } from '../lock_options.js'

export interface DiningPhilosophersOptions extends LockOptions {}

/**
 * Philosophers around a table, a fork between any two, of which each needs both to eat: no two neighbours
 * eat at once, all others may, and nobody waits in a circle. For tasks of which each shares one thing with
 * the task before it and one with the task behind it. The forks are mutexes, and everybody takes the two
 * in one order; at each fork it is first come, first served, so that everybody eats who waits long enough.
 *
 * Several may want to eat at one seat: they do so one after the other. When a thread ends that eats, its
 * forks go to the neighbours, and the Releaser of who gets one says `abandoned`.
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
   * @param seats How many sit at the table: 1 to 2^31 - 1. The same in all threads that share it. A fork
   * takes memory only while somebody holds or waits for it.
   * @param options `fairness` is that of the forks. There is no `buffer`: threads share a table by its name,
   * which keeps its number of seats as long as a thread that has used it.
   * @throws {TypeError | RangeError} when `seats` or an option is not what it should be.
   * @throws {Error} `ERR_LOCK_MISMATCH` when a table of that name has another number of seats.
   * @throws {Error} `ERR_LOCK_UNSUPPORTED` at scope `'host'` and over an engine: docs/scopes.md says what to use there.
   */
  constructor(seats: number, options?: DiningPhilosophersOptions)

  /** How many sit at the table. */
  readonly seats: number

  /**
   * Begins to eat at `seat`, 0 to `seats` - 1, when both neighbours (and who came before at this seat) let
   * it. Ended by {@link DiningPhilosophers.end} or by the Releaser.
   *
   * Rejects with `ERR_LOCK_TIMEOUT` when `timeout` passed first and with `signal.reason` on abort: it holds
   * no fork then.
   *
   * @param options or a priority.
   * @throws {TypeError | RangeError} at once when `seat` or an option is not what it should be.
   */
  begin(seat: number, options: IfAvailable): Promise<Releaser | undefined>
  begin(seat: number, options?: number | AcquireOptions): Promise<Releaser>

  /**
   * The same, and blocks this thread.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first; `ERR_LOCK_DEADLOCK` when this thread holds
   * a fork of it itself, or a promise of this thread waits for one.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given.
   */
  beginSync(seat: number, options?: SyncWaitOptions): Releaser

  /** Begins now, or gives undefined and holds no fork. */
  tryBegin(seat: number): Releaser | undefined

  /**
   * Ends the meal at `seat`.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when nobody of this thread eats there.
   * @throws {TypeError | RangeError} when there is no such seat.
   */
  end(seat: number): void

  /**
   * Runs `callback` while it eats at `seat`, and ends when it is through, also when it throws. Never
   * calls it before it returns. Rejects with whatever `callback` throws or rejects with, and with what
   * begin would throw.
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

  /** Runs `callback` at once or after blocking this thread, ends, and returns what it returns. */
  runExclusiveSync<T>(seat: number, callback: (grant: Grant) => T, options?: SyncWaitOptions): T
}
