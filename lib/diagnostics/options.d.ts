import type { Releaser } from '../core/releaser.js'
import type { LockManager } from '../weblocks/lock_manager.js'

/**
 * What is to be seen of a lock, and what of it is reported. See docs/diagnostics.md.
 *
 * All objects of a thread that stand for one lock should be given the same: what an object without diagnostics
 * does is not seen by the others.
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
   * `'counters'`: who holds the lock since when, its line, totals, how long was waited, and events. `true`: all
   * that, with the stack of each acquire, deadlock detection, and a warning when a {@link Releaser} is collected as
   * garbage before it was called. `false`: nothing, and nothing is paid for it.
   *
   * On Bun, which has no hooks to find deadlocks by, true throws `ERR_LOCK_UNSUPPORTED`; on Deno it finds none.
   *
   * A lock that is not of this kind (an event, a barrier, a latch, a condition variable, the philosophers, a
   * {@link LockManager}, which has `query()`) takes none.
   *
   * Anything else is a TypeError, and so is true or `'counters'` for a lock that takes none.
   *
   * @default what the environment variable BOXOFFICE_DIAGNOSTICS says, which is read when the package is loaded: `1`
   * or `true`, `counters`, `0` or `false`. Unset or empty means false. Any other text is a TypeError then
   */
  diagnostics?: boolean | 'counters'

  /**
   * Warn once of each hold that takes longer than that many milliseconds, by `process.emitWarning`: a warning named
   * BoxofficeWarning with the code BOXOFFICE_LONG_HOLD. By itself it brings `diagnostics: 'counters'` along.
   * Fractions count; more than 2^31 - 1 ms are never over. A thread has one timer for all, which keeps nothing alive.
   * A TypeError when it is no number; a RangeError when it is NaN, 0 or less.
   *
   * @default no warning
   */
  warnAfter?: number
}
