import type { Releaser } from '../core/releaser.js'

/**
 * What a lock records and reports about itself. See docs/diagnostics.md.
 *
 * Give all objects of a thread for one lock the same options: the records do not include acquires through an object
 * without diagnostics.
 *
 * @example
 * const orders = new Mutex({ name: 'watched orders', diagnostics: true, warnAfter: 5000 })
 * const release = await orders.acquire()
 * const { holders, waiting, totals } = orders.snapshot()
 * assert.equal(holders[0].thread, 0)
 * assert.equal(waiting, 0)
 * assert.equal(totals.acquisitions, 1)
 * release()
 */
export interface DiagnosticsOptions {
  /**
   * - `'counters'`: the holders with the time of their grant, the number of waiters, totals, wait times, and events.
   * - `true`: also the stack of each acquire, deadlock detection, and a warning when a {@link Releaser} is collected as
   *   garbage before it was called.
   * - `{ order: true }`: also the warning BOXOFFICE_LOCK_ORDER when callers take locks in different orders, and so could
   *   deadlock: see docs/lock-order.md.
   * - `false`: none of this, at no cost.
   *
   * Over an engine there is no deadlock detection, but `{ order: true }` works. On Bun, which lacks the hooks for
   * deadlock detection, `true` throws `ERR_LOCK_UNSUPPORTED`. On Deno it detects no deadlocks.
   *
   * Events, barriers, latches, condition variables, DiningPhilosophers and LockManager (which has `query()`) have no
   * diagnostics: they throw a TypeError for `true`, `'counters'` and an object. Any other value is a TypeError, too.
   *
   * @default the environment variable BOXOFFICE_DIAGNOSTICS, read when the package is loaded: `1` or `true`,
   * `order`, `counters`, `0` or `false`. Unset or empty means false. Loading the package throws a TypeError for any other text
   */
  diagnostics?: boolean | 'counters' | { order: boolean } | undefined

  /**
   * Warns once about each hold that lasts longer than this many milliseconds, by `process.emitWarning`: a warning named
   * BoxofficeWarning with the code BOXOFFICE_LONG_HOLD. Each call site of an acquire emits at most one warning a
   * second; the next warning counts those left out. Without `diagnostics` it implies `diagnostics: 'counters'`.
   * Fractions count; more than 2^31 - 1 ms means no warning. The timers do not keep the process alive. The constructor
   * throws a TypeError for a value that is not a number, and a RangeError for NaN and for 0 or less.
   *
   * @default no warning
   */
  warnAfter?: number | undefined
}
