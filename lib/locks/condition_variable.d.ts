import type { SyncWaitOptions, WaitOptions } from '../core/options.js'
import type { HostOptions } from '../host/options.js'
import type { BufferOptions, LockOptions } from '../options/lock_options.js'
import type { InLocalScope } from '../options/scope_options.js'
import type { Mutex } from './mutex.js'

export interface ConditionVariableSettings extends LockOptions, BufferOptions {}

export type ConditionVariableOptions = InLocalScope<ConditionVariableSettings>

/**
 * Lets a holder of a Mutex wait until something that the mutex guards has become true. A wait releases the mutex, and
 * acquires it again before it settles, also when it rejects. Releasers and `runExclusive` stay valid. There are no
 * spurious wake-ups, but another caller may get the mutex before the notified waiter does: wait in a loop.
 *
 * A waiter that gets the mutex back after the death of its holder is not told: the next grant of the mutex is
 * `abandoned` instead. If waiters must know, let each holder set a mark in the state before a change, and clear it
 * afterwards.
 *
 * When the thread or process of a notified waiter ends before the waiter holds the mutex again, the notification goes
 * to another waiter. At scope `'host'` this also happens when the process dies while the waiter holds the mutex again:
 * then one notification wakes two waiters. There waiting processes take turns, and there is no `fairness: 'fifo'`. If a
 * holder may be killed, let it first notify and then make its change, both while it holds the mutex: then no waiter is
 * forgotten.
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
 *
 * @example
 * // Between processes: what they wait for is in a file, and the holder that changes it notifies first.
 * import { existsSync, rmSync, writeFileSync } from 'node:fs'
 * const mutex = new Mutex({ scope: 'host', name: 'seat' })
 * const isFree = new ConditionVariable({ scope: 'host', name: 'seat is free' })
 * const take = () =>
 *   mutex.runExclusive(async () => {
 *     while (existsSync('seat.taken')) await isFree.wait(mutex)
 *     writeFileSync('seat.taken', 'ada')
 *   })
 * const leave = () =>
 *   mutex.runExclusive(() => {
 *     isFree.notifyOne()
 *     rmSync('seat.taken')
 *   })
 *
 * await take()
 * const next = take()
 * await leave()
 * await next
 * await leave()
 */
export class ConditionVariable {
  /**
   * Threads and processes must share the condition variable exactly when they share the mutexes that it is used with.
   *
   * @throws {TypeError | RangeError} when an option is invalid.
   * @throws {Error} `ERR_LOCK_MISMATCH` when the buffer contains a lock of another kind at this offset.
   * @throws {Error} `ERR_LOCK_UNSUPPORTED` over an engine: docs/scopes.md says what to use there; and at scope `'host'`
   * with `fairness: 'fifo'`, `maxHold` or `minHold`. At scope `'host'` also the errors of {@link HostOptions}.
   */
  constructor(options?: ConditionVariableOptions)

  /**
   * Releases `mutex`, waits for a notification, and acquires `mutex` again. Rejects with `ERR_LOCK_TIMEOUT` when
   * `timeout` ms have passed, and with `signal.reason` on abort: then, too, the caller holds the mutex. A `timeout` of
   * 0 and an aborted signal reject at once, without a release. A pending wait keeps the process alive as
   * `CountdownLatch.wait()` does.
   *
   * At scope `'host'` the `fencingToken` of the grant is larger after the wait than before. If a program removes the
   * lock's files, the wait rejects with `ERR_LOCK_SEGMENT`, and the caller does not hold the mutex. It still holds the
   * mutex if only the files of the condition variable were removed, before the call.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when this thread does not hold `mutex`.
   * @throws {Error} `ERR_LOCK_UNSUPPORTED` when `mutex` has a `maxHold` or a `minHold`.
   * @throws {TypeError} when `mutex` is not a Mutex, has an engine, or is not shared as the condition variable is.
   */
  wait(mutex: Mutex, options?: Omit<WaitOptions, 'priority'>): Promise<void>

  /**
   * Waits as {@link ConditionVariable.wait} does, and blocks this thread.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` ms have passed: then, too, the caller holds the mutex.
   * `ERR_LOCK_DEADLOCK` when no other thread could notify, or a promise of this thread waits for `mutex`, for this
   * condition variable, or for another one with `mutex`. `ERR_LOCK_UNSUPPORTED` at scope `'host'`.
   * @throws {TypeError} on the main thread unless `allowBlockingMainThread` is set.
   */
  waitSync(mutex: Mutex, options?: Omit<SyncWaitOptions, 'priority'>): void

  /**
   * Wakes the waiter that has waited longest. At scope `'host'` that is the longest waiter of the process whose turn it
   * is. Does nothing without a waiter. Hold the mutex when you change what the waiters wait for.
   */
  notifyOne(): void
  /**
   * Wakes every waiter. Each acquires the mutex in turn. If a process is killed during this call at scope `'host'`, it
   * may have woken the waiters of only some processes.
   */
  notifyAll(): void

  /** The shared memory of the condition variable: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** The condition variable's offset in `buffer`, in bytes. */
  readonly byteOffset: number
}
