import type { AcquireOptions, IfAvailable, SyncWaitOptions } from '../core/options.js'
import type { Grant, TryRunResult } from '../core/releaser.js'
import type { HoldableOptions } from '../options/lock_options.js'
import type { InScope } from '../options/scope_options.js'
import type { Closable } from './closable.js'
import type { Mutex, MutexSnapshot } from './mutex.js'

/** The options of a {@link Mutex}. A RecursiveMutex and a Mutex of the same name are two locks. */
export type RecursiveMutexOptions = InScope<HoldableOptions>

/**
 * A mutex that its holder may acquire again. The holder is a chain of calls, tracked by AsyncLocalStorage: the callback
 * and all that it calls, awaits and starts, timers included. A listener belongs to the chain that emits the event,
 * unless AsyncResource.bind has bound it to another chain.
 *
 * It needs the native `Promise`. Where zone.js, bluebird or a polyfill has replaced the global one, a callback of `then()`
 * may run in the chain that resolves the promise. If that chain holds the mutex, the callback enters it, too. And a chain
 * that holds the mutex may wait for itself. The first lock warns of it (BOXOFFICE_PROMISE).
 *
 * Calls that the callback starts are nested in its hold:
 * - A nested call goes ahead of every other waiter. Nested calls that run side by side (`Promise.all`) take turns,
 *   first in, first out: no call holds the mutex at the same time as its sibling.
 * - If the callback ends before its nested calls, the mutex stays held until they have ended. A call that begins after the
 *   callback has ended is no longer nested in its hold. It is nested in the next outer hold that has not ended, or waits in
 *   the queue as other callers do.
 *
 * The callback itself keeps running while nested calls hold the mutex: await them before you touch what the mutex
 * guards.
 *
 * At scope `'host'` and over an engine the outermost hold has the lock; acquiring it again is local. Once `maxHold` has
 * ended that hold, its callback no longer holds the mutex, and `isHeld()` is false. New calls from inside queue as
 * calls from outside do, and nested calls that already wait move to that queue, with the rest of their `timeout`. If an
 * engine loses the lease of a lock without a `maxHold` of its own, calls from inside reject with `ERR_LOCK_LOST`, and
 * other callers of this thread wait until the callback ends.
 *
 * When a thread ends while it holds a shared RecursiveMutex, the next waiter acquires it, and its grant is `abandoned`.
 *
 * There is no `acquire()`, because it could not mark its caller as the holder. AsyncLocalStorage.enterWith() would also
 * mark the caller's siblings and the code after the release, and two chains could hold the mutex at once.
 *
 * @example
 * const account = new RecursiveMutex()
 * let balance = 100
 *
 * // Each function locks on its own, and one may call the other.
 * const withdraw = (amount) =>
 *   account.runExclusive(async () => {
 *     if (amount > balance) throw new Error('not enough')
 *     balance -= amount
 *   })
 * const buy = (prices) =>
 *   account.runExclusive(async () => {
 *     for (const price of prices) await withdraw(price)
 *   })
 *
 * await buy([10, 20])
 * assert.equal(balance, 70)
 *
 * @example
 * // Siblings that the callback starts do not hold the mutex for each other: they take turns.
 * const log = new RecursiveMutex()
 * const lines = []
 * const write = (name) =>
 *   log.runExclusive(async () => {
 *     lines.push(`${name} begins`)
 *     await flush()
 *     lines.push(`${name} ends`)
 *   })
 * await log.runExclusive(() => Promise.all([write('a'), write('b')]))
 * assert.deepEqual(lines, ['a begins', 'a ends', 'b begins', 'b ends'])
 */
export class RecursiveMutex implements Closable {
  /**
   * A recursive mutex of this thread. With a `name`, a `buffer` or `shared: true` all threads of this process share it,
   * with `scope: 'host'` all processes of this user on this machine, and with an `engine` all machines that use its server.
   *
   * Throws as the constructor of a {@link Mutex} does, and `ERR_LOCK_UNSUPPORTED` if the runtime has no
   * AsyncLocalStorage. Does not throw for a Mutex at the same offset of a `buffer`.
   *
   * @param options or the error that `cancel()` rejects with.
   */
  constructor(options?: Error | RecursiveMutexOptions)

  /**
   * Acquires the mutex, runs `callback`, and releases when the callback has settled, also when it throws. The callback
   * never runs before this method has returned. `priority`, `timeout` and `signal` apply to the queue that the caller
   * waits in: the queue of the mutex, or of the hold that the call is nested in. When the promise settles, nested calls
   * that the callback did not await may still hold the mutex.
   *
   * Rejects with the callback's error, and with a TypeError or RangeError when an argument is invalid. When the mutex is
   * not acquired, rejects as {@link Mutex.acquire} does, without calling `callback`.
   *
   * @param options or a priority.
   */
  runExclusive<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options: IfAvailable,
  ): Promise<T | undefined>
  runExclusive<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options?: number | AcquireOptions,
  ): Promise<T>

  /** {@link RecursiveMutex.runExclusive} under its name in the article https://v8.dev/features/atomics. */
  executeLocked<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options: IfAvailable,
  ): Promise<T | undefined>
  executeLocked<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options?: number | AcquireOptions,
  ): Promise<T>

  /**
   * As {@link Mutex.tryRunExclusive}. A call from inside a hold runs, unless another call nested in that hold has not
   * ended.
   */
  tryRunExclusive<T>(callback: (grant: Grant) => Promise<T> | T): Promise<TryRunResult<T>>

  /**
   * Blocks this thread until it has acquired the mutex, runs `callback`, releases, and returns the callback's result.
   * It enters at once if another `runExclusiveSync` of the same mutex is on the stack. If `callback` returns a promise,
   * this releases the mutex before that promise settles.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` ms have passed; `ERR_LOCK_DEADLOCK` when another chain of this
   * thread, or a sibling, holds the mutex: blocking the thread would deadlock.
   * @throws {TypeError} on the main thread unless `allowBlockingMainThread` is set, and when an argument is of the
   * wrong type.
   * @throws {RangeError} when `timeout` is NaN or negative.
   */
  runExclusiveSync<T>(callback: (grant: Grant) => T, options?: SyncWaitOptions): T

  /** Whether the mutex is held. Another thread may change that at any time. */
  isLocked(): boolean

  /** Whether the calling chain is inside a hold that has not ended. */
  isHeld(): boolean

  /**
   * The state of the mutex at this moment. Its totals count only outermost holds.
   */
  snapshot(): MutexSnapshot

  /**
   * Rejects every waiter of this thread, nested waiters included. The holder keeps the mutex, and may acquire it again.
   */
  cancel(reason?: unknown): void

  /** {@link Closable.close} */
  close(): Promise<void>
  /** {@link Closable.onIdle} */
  onIdle(): Promise<void>

  /** The shared memory of the mutex: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** The mutex's offset in `buffer`, in bytes. */
  readonly byteOffset: number
}
