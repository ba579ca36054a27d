/// <reference path="../core/disposable.d.ts" />

import type { EngineChoice } from '../cluster/options.js'
import type {
  AcquireOptions,
  IfAvailable,
  SyncWaitOptions,
  WaitOptions,
  WeightedAcquireOptions,
  WeightedIfAvailable,
  WeightedSyncWaitOptions,
  WeightedWaitOptions,
} from '../core/options.js'
import type { Grant, Releaser } from '../core/releaser.js'
import type { DiagnosticsOptions } from '../diagnostics/options.js'
import type { LockDiagnostics } from '../diagnostics/process.js'
import type { HostOptions, HostSnapshot } from '../host/options.js'
import type {
  BufferOptions,
  CancelOptions,
  LockOptions,
  MaxHoldOptions,
  WaitDefaults,
} from '../lock_options.js'
import type { Closable } from './closable.js'
import type { Mutex } from './mutex.js'

/**
 * What acquiring a semaphore gives: an array of the value before, and the Releaser. `using` takes the array as well
 * as the Releaser. Of several keys: the value of each before.
 *
 * @example
 * const semaphore = new Semaphore(2)
 * {
 *   using ticket = await semaphore.acquire()
 *   assert.equal(ticket[0], 2)
 *   assert.equal(semaphore.getValue(), 1)
 * }
 * assert.equal(semaphore.getValue(), 2)
 */
export type SemaphoreTicket<Value = number> = [Value, Releaser] & Disposable & AsyncDisposable

export interface SemaphoreInterface {
  acquire(
    weight?: number,
    options?: number | WaitOptions,
  ): Promise<[number, SemaphoreInterface.Releaser]>
  acquire(options: WeightedWaitOptions): Promise<[number, SemaphoreInterface.Releaser]>
  runExclusive<T>(
    callback: SemaphoreInterface.Worker<T>,
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<T>
  waitForUnlock(
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<void>
  isLocked(): boolean
  getValue(): number
  setValue(value: number): void
  release(weight?: number): void
  cancel(reason?: unknown): void
}
export namespace SemaphoreInterface {
  export type Releaser = () => void
  export type Worker<T> = (value: number) => Promise<T> | T
}

export interface SemaphoreOptions
  extends LockOptions,
    WaitDefaults,
    MaxHoldOptions,
    BufferOptions,
    CancelOptions,
    HostOptions,
    EngineChoice,
    DiagnosticsOptions {}

export interface SemaphoreSnapshot extends HostSnapshot, LockDiagnostics {
  value: number
  waiting: number
}

/**
 * A counting semaphore with weights and priorities. A superset of async-mutex's: change the import.
 * Values and weights are integers, from -2^29 to 2^29 - 1. The head of the line keeps lighter ones of
 * its own or lower priority behind it. When a thread ends that shares it, what its Releasers would have put back
 * goes back, but the value does not pass the one at first by it: what was taken as a signal stays taken. The next
 * to acquire gets `abandoned`.
 *
 * Over an engine the value is 1 or more and does not change: `release()` gives back at most what this thread holds, and
 * `getValue()` knows of this thread only.
 *
 * @example
 * const connections = new Semaphore(10)
 * await connections.runExclusive(() => query())
 *
 * @example
 * // Ten connections for all threads together.
 * const connections = new Semaphore(10, { name: 'connections' })
 */
export class Semaphore implements SemaphoreInterface, Closable {
  /**
   * @param value How much there is at first, in all threads that share it: an integer from -2^29 to 2^29 - 1.
   * @param options or, as in async-mutex, the error that `cancel()` rejects with.
   * @throws {TypeError | RangeError} when `value` or an option is not what it should be.
   * @throws {Error} `ERR_LOCK_MISMATCH` when it is there already with another value, or another kind of
   * lock is.
   */
  constructor(value: number, options?: Error | SemaphoreOptions)

  /**
   * Takes `weight` from the value in its turn. Resolves to the value before, and a Releaser that puts
   * the weight back.
   *
   * @throws {RangeError} at once: `invalid weight N: must be positive`.
   * @throws {TypeError | RangeError} at once when an option is not what it should be.
   */
  acquire(weight: number, options: IfAvailable): Promise<SemaphoreTicket | undefined>
  acquire(options: WeightedIfAvailable): Promise<SemaphoreTicket | undefined>
  acquire(weight?: number, options?: number | AcquireOptions): Promise<SemaphoreTicket>
  acquire(options: WeightedAcquireOptions): Promise<SemaphoreTicket>

  /** Takes `weight` now, or gives undefined: too little is there, or somebody waits. */
  tryAcquire(weight?: number): SemaphoreTicket | undefined

  /** Runs `callback(valueBefore)` while it has `weight`. Never calls it before it returns. */
  runExclusive<T>(
    callback: (value: number, grant: Grant) => Promise<T> | T,
    weight: WeightedIfAvailable,
  ): Promise<T | undefined>
  runExclusive<T>(
    callback: (value: number, grant: Grant) => Promise<T> | T,
    weight: number,
    options: IfAvailable,
  ): Promise<T | undefined>
  runExclusive<T>(
    callback: (value: number, grant: Grant) => Promise<T> | T,
    weight?: number | WeightedAcquireOptions,
    options?: number | AcquireOptions,
  ): Promise<T>

  /** {@link Semaphore.runExclusive} by the name it has in V8's proposal. */
  executeLocked<T>(
    callback: (value: number, grant: Grant) => Promise<T> | T,
    weight: WeightedIfAvailable,
  ): Promise<T | undefined>
  executeLocked<T>(
    callback: (value: number, grant: Grant) => Promise<T> | T,
    weight: number,
    options: IfAvailable,
  ): Promise<T | undefined>
  executeLocked<T>(
    callback: (value: number, grant: Grant) => Promise<T> | T,
    weight?: number | WeightedAcquireOptions,
    options?: number | AcquireOptions,
  ): Promise<T>

  /**
   * Takes `weight` in its turn, and blocks this thread until it can.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first; `ERR_LOCK_DEADLOCK` when no other
   * thread knows the semaphore.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given.
   */
  acquireSync(weight?: number, options?: SyncWaitOptions): SemaphoreTicket
  acquireSync(options: WeightedSyncWaitOptions): SemaphoreTicket

  /** Runs `callback(valueBefore)` at once or after blocking this thread, and returns what it returns. */
  runExclusiveSync<T>(
    callback: (value: number, grant: Grant) => T,
    weight?: number | WeightedSyncWaitOptions,
    options?: SyncWaitOptions,
  ): T

  /** Resolves when `weight` could have been had; those who wait to acquire go first. */
  waitForUnlock(
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<void>

  /** Whether the value is 0 or less. */
  isLocked(): boolean
  getValue(): number
  /**
   * Sets the value, and admits the waiters that fit then.
   *
   * @throws {RangeError} out of range.
   * @throws {Error} `ERR_LOCK_UNSUPPORTED` over an engine, where the value is what the constructors say.
   */
  setValue(value: number): void

  /**
   * Makes a function of the same signature that takes its units for each call and gives them back when `fn` has
   * settled: at most as many calls run at a time as the semaphore has units. `this` and the arguments reach `fn`.
   *
   * @param options apply to each call: `weight`, `priority`, `timeout` in ms for its wait, `signal`.
   * @throws {TypeError | RangeError} at once when an argument is invalid.
   *
   * @example
   * const limited = new Semaphore(4).limit((id) => query(id))
   * const users = await Promise.all(['ada', 'bob'].map((id) => limited(id)))
   */
  limit<This, Args extends unknown[], Result>(
    fn: (this: This, ...args: Args) => Result,
    options?: WeightedAcquireOptions,
  ): (this: This, ...args: Args) => Promise<Awaited<Result>>

  /**
   * Runs `fn` for each item, as many at a time as there are units, and resolves to the results in the order of the
   * items. It reads at most one item ahead of the jobs that run.
   *
   * The first failure (of a job, of the iterable, of a wait, or of `options.signal`) aborts the `signal` that running
   * jobs have, starts no further job, and closes the iterable. The promise rejects with it once the running jobs have
   * ended. `cancel()` ends it the same way.
   *
   * @param iterable an iterable of items or of promises, or an async iterable. As with `for await`, a promise that rejects
   * before its turn is an unhandled rejection, unless it has a handler.
   * @param options apply to each job's wait: `weight`, `priority`, `timeout` in ms; `signal` ends the whole.
   * @returns a promise that rejects with a TypeError or RangeError when an argument is invalid.
   *
   * @example
   * const four = new Semaphore(4)
   * const users = await four.map(['ada', 'bob'], (id, { signal }) => query(id, { signal }))
   */
  map<Item, Result>(
    iterable: Iterable<Item> | AsyncIterable<Item>,
    fn: (item: Awaited<Item>, job: { index: number; signal: AbortSignal }) => Result,
    options?: WeightedWaitOptions,
  ): Promise<Awaited<Result>[]>

  /**
   * Adds to the value, whoever has taken from it, and lets in whoever fits then.
   *
   * @throws {RangeError} when the value would pass 2^29 - 1 (`ERR_LOCK_RANGE`); nothing has changed.
   */
  release(weight?: number): void

  /** Rejects all of this thread who wait to acquire. Holders and waitForUnlock are left alone. */
  cancel(reason?: unknown): void

  /** {@link Closable.close} */
  close(): Promise<void>
  /** {@link Closable.onIdle} */
  onIdle(): Promise<void>

  /** The memory it lies in: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** Where in `buffer`, in bytes. */
  readonly byteOffset: number

  /** What there is to see of it in this moment. */
  snapshot(): SemaphoreSnapshot
}
