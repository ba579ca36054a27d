/// <reference path="../core/disposable.d.ts" />

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
import type { Grant, Releaser, TryRunResult } from '../core/releaser.js'
import type { LockDiagnostics } from '../diagnostics/process.js'
import type { HostSnapshot } from '../host/options.js'
import type { HoldableOptions } from '../options/lock_options.js'
import type { InScope } from '../options/scope_options.js'
import type { Closable } from './closable.js'
import type { Mutex } from './mutex.js'

/**
 * The result of acquiring a semaphore: an array of the value before the grant, and the Releaser. `using` takes the
 * array as well as the Releaser. For several keys the first element is an array, with the value of each key before the
 * grant.
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
export type SemaphoreTicket<Value = number> = [Value, Releaser] & {
  /** Puts the units back, as the Releaser does. */
  release(): void
} & Disposable &
  AsyncDisposable

/** The methods of async-mutex's Semaphore, which {@link withTimeout} and {@link tryAcquire} take and return. */
export interface SemaphoreInterface {
  /** {@link Semaphore.acquire} */
  acquire(
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<[number, SemaphoreInterface.Releaser]>
  /** {@link Semaphore.runExclusive} */
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

export type SemaphoreOptions = InScope<HoldableOptions, 'minHold'>

export interface SemaphoreSnapshot extends HostSnapshot, LockDiagnostics {
  /** The units that are left. */
  value: number
  /** The number of waiters. */
  waiting: number
}

/**
 * A counting semaphore with weights and priorities. It has every method of async-mutex's Semaphore: change the import.
 *
 * Values are integers from -2^29 to 2^29 - 1, and weights are integers from 1 to 2^29 - 1. While the head of the queue
 * waits for more units, lighter waiters of the same or a lower priority stay behind it.
 *
 * When a thread that shares the semaphore ends, the units that it holds go back, up to the initial value, and the next
 * grant is `abandoned`. If a thread releases more units than it holds, the rest first counts against the units of other
 * holders, and only then raises the value. If units stand for something that callers use up, such as items in a buffer,
 * begin with `new Semaphore(0)` and `release(n)`: then no units go back by themselves.
 *
 * Over an engine the value is 1 or more and does not change. If other processes use the semaphore with another value,
 * acquiring rejects with `ERR_LOCK_MISMATCH`. Over an engine `release()` gives back at most what this thread holds, and
 * `getValue()` counts only the units of this thread.
 *
 * @example
 * const connections = new Semaphore(10)
 * await connections.runExclusive(() => query())
 *
 * @example
 * // Ten connections, shared by all threads.
 * const connections = new Semaphore(10, { name: 'connections' })
 */
export class Semaphore implements SemaphoreInterface, Closable {
  /**
   * A semaphore of this thread. With a `name`, a `buffer` or `shared: true` all threads of this process share it, with
   * `scope: 'host'` all processes of this user on this machine, and with an `engine` all machines that use its server.
   *
   * Throws as the constructor of a {@link Mutex} does, and `ERR_LOCK_MISMATCH` when the semaphore exists with another
   * initial value.
   *
   * @param value The initial value, the same in all threads and processes that share the semaphore: an integer from -2^29
   * to 2^29 - 1.
   * @param options or, as in async-mutex, the error that `cancel()` rejects with.
   * @throws {TypeError | RangeError} when `value` is invalid.
   */
  constructor(value: number, options?: Error | SemaphoreOptions)

  /**
   * Takes `weight` units, after waiting in the queue. Resolves to the value before the grant, and a Releaser that puts
   * the units back. Rejects as {@link Mutex.acquire} does.
   *
   * A call for more units than the semaphore has waits until `setValue()` or `release()` raises the value, and the
   * callers behind it wait, too. Without a `timeout` that may be for ever. So the first such wait of a semaphore emits
   * a `BoxofficeWarning` with the code `BOXOFFICE_TOO_MANY_UNITS`, unless the semaphore began with less than one unit.
   * A {@link KeyedSemaphore} and a semaphore over an engine throw a RangeError instead.
   *
   * @param options or a priority: a bare number is not a timeout.
   * @throws {TypeError | RangeError} at once when `weight` or an option is invalid, or when an argument follows the
   * options.
   */
  acquire(weight: number, options: IfAvailable): Promise<SemaphoreTicket | undefined>
  acquire(options: WeightedIfAvailable): Promise<SemaphoreTicket | undefined>
  acquire(weight?: number, options?: number | AcquireOptions): Promise<SemaphoreTicket>
  acquire(options: WeightedAcquireOptions): Promise<SemaphoreTicket>

  /** Takes `weight` units now, or returns undefined when fewer are left or a caller waits. Throws as `acquire()` does. */
  tryAcquire(weight?: number): SemaphoreTicket | undefined

  /**
   * Takes `weight` units, runs `callback(valueBefore)`, and puts them back when the callback has settled, also when it
   * throws. The callback never runs before this method has returned. Rejects with the callback's error, with what
   * {@link Semaphore.acquire} rejects with, and with a TypeError or RangeError when an argument is invalid.
   */
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

  /** {@link Semaphore.runExclusive} under its name in the article https://v8.dev/features/atomics. */
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

  /** {@link Mutex.tryRunExclusive} with `weight` units. */
  tryRunExclusive<T>(
    callback: (value: number, grant: Grant) => Promise<T> | T,
    weight?: number,
  ): Promise<TryRunResult<T>>

  /**
   * Blocks this thread until it has taken `weight` units.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` ms have passed; `ERR_LOCK_DEADLOCK` when the units are missing and
   * the semaphore belongs to this thread only.
   * @throws {TypeError} on the main thread unless `allowBlockingMainThread` is set.
   * @throws {TypeError | RangeError} when `weight` or an option is invalid.
   */
  acquireSync(weight?: number, options?: SyncWaitOptions): SemaphoreTicket
  acquireSync(options: WeightedSyncWaitOptions): SemaphoreTicket

  /**
   * Takes units as {@link Semaphore.acquireSync} does, runs `callback(valueBefore)`, puts them back, and returns the
   * callback's result. If `callback` is an async function, this puts them back at its first `await`: use
   * {@link Semaphore.runExclusive}.
   */
  runExclusiveSync<T>(
    callback: (value: number, grant: Grant) => T,
    weight?: number | WeightedSyncWaitOptions,
    options?: SyncWaitOptions,
  ): T

  /**
   * Resolves when `weight` units are available, after all callers that wait to acquire. Does not take them. Fails as
   * {@link Semaphore.acquire} does, but `cancel()` and `maxPending` do not apply.
   */
  waitForUnlock(
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<void>

  /** Whether the value is 0 or less. */
  isLocked(): boolean
  /** The value at this moment. Another thread may change it at any time. */
  getValue(): number
  /**
   * Sets the value, and admits the waiters that fit then.
   *
   * @throws {TypeError | RangeError} when `value` is not an integer from -2^29 to 2^29 - 1.
   * @throws {Error} `ERR_LOCK_UNSUPPORTED` over an engine, where the value is that of the constructor.
   */
  setValue(value: number): void

  /**
   * Returns a function of the same signature that takes units for each call, calls `fn`, and puts the units back when
   * `fn` has settled. So at most as many calls run at a time as the semaphore has units. `fn` gets `this` and the
   * arguments.
   *
   * @param options apply to the wait of each call: `weight`, `priority`, `maxPending`, `timeout`, `signal`. With
   * `ifAvailable: true` a call that would have to wait resolves to undefined and does not call `fn`.
   * @throws {TypeError | RangeError} at once when an argument is invalid.
   *
   * @example
   * const limited = new Semaphore(4).limit((id) => query(id))
   * const users = await Promise.all(['ada', 'bob'].map((id) => limited(id)))
   */
  limit<This, Args extends unknown[], Result>(
    fn: (this: This, ...args: Args) => Result,
    options: WeightedIfAvailable,
  ): (this: This, ...args: Args) => Promise<Awaited<Result> | undefined>
  limit<This, Args extends unknown[], Result>(
    fn: (this: This, ...args: Args) => Result,
    options?: WeightedAcquireOptions,
  ): (this: This, ...args: Args) => Promise<Awaited<Result>>

  /**
   * Runs `fn` for each item, as many at a time as there are units, and resolves to the results in the order of the
   * items. It reads at most one item ahead of the running jobs. `maxPending` does not apply to the job of that item.
   *
   * The first failure (of a job, of the iterable or of a wait) and an abort of `options.signal` end the work: the
   * `signal` of the running jobs aborts with the failure as its `reason`, no further job starts, and `map` closes the
   * iterable. Once the running jobs have ended, the promise rejects with that failure. A job should test
   * `signal.aborted`, not the name of an error. `cancel()` fails the job that waits, if one does. An async generator or
   * a stream that waits for its next item closes only when that item arrives: destroy such a source yourself, in the
   * `catch`.
   *
   * @param iterable an iterable of items or of promises, or an async iterable. As with `for await`, a promise that
   * rejects before its turn is an unhandled rejection, unless it has a handler.
   * @param fn gets the item and its job: `index` is the position of the item, from 0 on, and `signal` aborts when another
   * job fails, or when the signal of the options aborts.
   * @param options apply to the wait of each job: `weight`, `priority`, `timeout`. `signal` ends all the work.
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
   * Adds `weight` units to the value, even if no caller has taken them, and admits the waiters that fit then.
   *
   * @throws {RangeError} `ERR_LOCK_RANGE` when the value would exceed 2^29 - 1. The value stays.
   * @throws {TypeError | RangeError} when `weight` is invalid.
   */
  release(weight?: number): void

  /**
   * Rejects every waiter of this thread that waits to acquire, with `reason` or else with `cancelError`. Holders keep
   * their units. Callers of `waitForUnlock()` keep waiting; if threads share the semaphore, they go to the end of the
   * queue.
   */
  cancel(reason?: unknown): void

  /** {@link Closable.close} */
  close(): Promise<void>
  /** {@link Closable.onIdle} */
  onIdle(): Promise<void>

  /** The shared memory of the semaphore: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** The semaphore's offset in `buffer`, in bytes. */
  readonly byteOffset: number

  /** The state of the semaphore at this moment. */
  snapshot(): SemaphoreSnapshot
}
