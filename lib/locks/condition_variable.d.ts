import type { SyncWaitOptions, WaitOptions } from '../core/options.js'
import type { BufferOptions, LockOptions } from '../lock_options.js'
import type { Mutex } from './mutex.js'

export interface ConditionVariableOptions extends LockOptions, BufferOptions {}

/**
 * Waits until something has become true that a Mutex guards. A wait lets go of the mutex, and has it again
 * when it settles, however it does; Releasers and runExclusive go on with it. Nobody is woken for nothing, but
 * another may have come first: wait in a loop.
 *
 * @example
 * const mutex = new Mutex()
 * const notEmpty = new ConditionVariable()
 * const queue = []
 * const take = () =>
 *   mutex.runExclusive(async () => {
 *     while (queue.length === 0) await notEmpty.wait(mutex)
 *     return queue.shift()
 *   })
 * const put = (item) =>
 *   mutex.runExclusive(() => {
 *     queue.push(item)
 *     notEmpty.notifyOne()
 *   })
 *
 * const taken = take()
 * await put('a ticket')
 * assert.equal(await taken, 'a ticket')
 */
export class ConditionVariable {
  /**
   * It is shared by threads, or not, as the mutexes that it is used with.
   *
   * @throws {TypeError | RangeError} when an option is not what it should be.
   * @throws {Error} `ERR_LOCK_MISMATCH` when another kind of lock lies there.
   * @throws {Error} `ERR_LOCK_UNSUPPORTED` at scope `'host'` and over an engine: docs/scopes.md says what to use there.
   */
  constructor(options?: ConditionVariableOptions)

  /**
   * Lets go of `mutex`, waits to be notified, and locks it again. Rejects with `ERR_LOCK_TIMEOUT` or the
   * signal's reason, holding the mutex; so does it at once where there is no time to wait.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when this thread does not hold `mutex`.
   * @throws {TypeError} when `mutex` is no Mutex, or one over an engine, or not shared as the condition is.
   */
  wait(mutex: Mutex, options?: Omit<WaitOptions, 'priority'>): Promise<void>

  /**
   * The same, and blocks this thread.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first; the mutex is locked again all the same.
   * `ERR_LOCK_DEADLOCK` when no other thread could notify, or a promise of this thread waits for `mutex`, for
   * the condition, or for another condition with `mutex`.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given.
   */
  waitSync(mutex: Mutex, options?: Omit<SyncWaitOptions, 'priority'>): void

  /** Lets the one go on that has waited longest. Whoever changes the condition does so holding the mutex. */
  notifyOne(): void
  notifyAll(): void

  /** The memory it lies in: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** Where in `buffer`, in bytes. */
  readonly byteOffset: number
}
