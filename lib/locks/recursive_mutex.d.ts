import type { EngineChoice } from '../cluster/options.js'
import type { AcquireOptions, IfAvailable, SyncWaitOptions } from '../core/options.js'
import type { Grant } from '../core/releaser.js'
import type { DiagnosticsOptions } from '../diagnostics/options.js'
import type { HostOptions } from '../host/options.js'
import type {
  BufferOptions,
  CancelOptions,
  HoldOptions,
  LockOptions,
  WaitDefaults,
} from '../lock_options.js'
import type { Closable } from './closable.js'
import type { Mutex, MutexSnapshot } from './mutex.js'

/** The options of a {@link Mutex}: the name of a RecursiveMutex is not that of a Mutex. */
export interface RecursiveMutexOptions
  extends LockOptions,
    WaitDefaults,
    HoldOptions,
    BufferOptions,
    CancelOptions,
    HostOptions,
    EngineChoice,
    DiagnosticsOptions {}

/**
 * A mutex that its holder may enter again. The holder is a chain of calls: what the callback runs, awaits and
 * starts (timers and listeners too), by AsyncLocalStorage. A listener is the chain that emits the event, unless
 * AsyncResource.bind has made it another.
 *
 * What the callback starts comes from inside its hold:
 * - it goes before all others who wait, and those of them that are started side by side (`Promise.all`) take
 *   turns, first come, first served: none of them holds what its sibling holds;
 * - when the callback ends before them, the lock is kept until the last of those is through who had asked by then.
 *   Who asks later is a chain that outlives its hold, and stands in line as everybody does (or as what comes from
 *   inside the next hold around it that has not ended).
 *
 * The callback itself is not stopped while others are inside its hold: await them before you touch what the lock
 * guards.
 *
 * At scope host and over an engine the outermost hold has the lock; entering again is local.
 *
 * When a thread that shares it ends inside, the next one is let in, and is not told.
 *
 * There is no `acquire()`. It could tell nobody that its caller holds the lock: AsyncLocalStorage.enterWith, the
 * only way, would tell it to the caller's siblings and to what comes after the release, and let two in.
 *
 * @example
 * const account = new RecursiveMutex()
 * let balance = 100
 *
 * // Each of them is whole on its own, and may be called by the other.
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
 * // A sibling started from inside is not the holder: the two take turns.
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
   * @param options or the error that `cancel()` rejects with.
   * @throws {TypeError} when an option is of the wrong type.
   * @throws {RangeError} when `buffer` is too small or `byteOffset` out of range.
   * @throws {Error} `ERR_LOCK_MISMATCH` when another kind of lock lies there. (A Mutex is not noticed.)
   */
  constructor(options?: Error | RecursiveMutexOptions)

  /**
   * Runs `callback` while nobody else is in, but for the holds that it comes from inside of; lets go when it is
   * through, also when it throws. Never calls it before it returns. `priority`, `timeout` and `signal` are for the
   * line that it stands in, of the lock or of the hold it comes from inside of. When the promise settles the lock
   * may still be kept, for those that the callback has left inside.
   *
   * Rejects with whatever `callback` throws or rejects with; with `ERR_LOCK_TIMEOUT`, the signal's reason or what
   * `cancel()` gives, and then `callback` is not called; with a TypeError or RangeError when an argument is not
   * what it should be.
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

  /** {@link RecursiveMutex.runExclusive} by the name it has in V8's proposal. */
  executeLocked<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options: IfAvailable,
  ): Promise<T | undefined>
  executeLocked<T>(
    callback: (grant: Grant) => Promise<T> | T,
    options?: number | AcquireOptions,
  ): Promise<T>

  /**
   * Runs `callback` at once or after blocking this thread, lets go, and returns what it returns. Inside another
   * runExclusiveSync of the same mutex, anywhere on the stack, it is in again. If `callback` returns a promise,
   * what that still does has outlived the hold.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first; `ERR_LOCK_DEADLOCK` when this thread would have
   * to wait for itself: for another chain, or a sibling, that holds it here.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given, and when an argument is of
   * the wrong type.
   * @throws {RangeError} when `timeout` is NaN or negative.
   */
  runExclusiveSync<T>(callback: (grant: Grant) => T, options?: SyncWaitOptions): T

  /** Whether anybody holds it: in the next moment that may have changed. */
  isLocked(): boolean

  /** Whether the chain of calls that asks comes from inside a hold that has not ended. */
  isHeld(): boolean

  /** What there is to see of it. Its totals count the outermost holds only: to come in again is no acquisition. */
  snapshot(): MutexSnapshot

  /**
   * Rejects all of this thread who wait, also those who wait inside a hold. Whoever is in is left alone, and may
   * enter again.
   */
  cancel(reason?: unknown): void

  /** {@link Closable.close} */
  close(): Promise<void>
  /** {@link Closable.onIdle} */
  onIdle(): Promise<void>

  /** The memory it lies in: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** Where in `buffer`, in bytes. */
  readonly byteOffset: number
}
