import type { Closable } from './closable.js'
import type { MutexInterface } from './mutex.js'
import type { SemaphoreInterface } from './semaphore.js'

/**
 * Wraps a Mutex or a Semaphore so that each wait rejects with `error` after `timeout` ms. The waiter leaves the queue
 * at once. A negative or NaN `timeout` admits only callers that need not wait; `Infinity` means no limit. If the lock is
 * over an engine that does not answer, waits reject with the engine's `ERR_LOCK_ENGINE` instead of `error`. For other
 * locks, and for `using` in TypeScript, set the constructor's `timeout` instead.
 *
 * @param error the reason of the rejection. @default {@link E_TIMEOUT}
 * @throws {TypeError} when `lock` lacks `acquire()` or `isLocked()`, or has keys, or `timeout` is neither a number nor a
 * numeric string.
 *
 * @example
 * const mutex = new Mutex()
 * const limited = withTimeout(mutex, 100)
 * await mutex.runExclusive(async () => {
 *   await assert.rejects(limited.acquire(), E_TIMEOUT)
 * })
 */
export function withTimeout(
  lock: MutexInterface & Closable,
  timeout: number,
  error?: Error,
): MutexInterface & Closable
export function withTimeout(
  lock: SemaphoreInterface & Closable,
  timeout: number,
  error?: Error,
): SemaphoreInterface & Closable
export function withTimeout(lock: MutexInterface, timeout: number, error?: Error): MutexInterface
export function withTimeout(
  lock: SemaphoreInterface,
  timeout: number,
  error?: Error,
): SemaphoreInterface

/**
 * Wraps a lock so that a call rejects with `error` unless it acquires the lock in this turn of the event loop. The same
 * as `withTimeout(lock, 0, error)`. If the lock is over an engine, a call asks the server, which takes one round trip.
 *
 * @param error the reason of the rejection. @default {@link E_ALREADY_LOCKED}
 * @throws {TypeError} when `lock` lacks `acquire()` or `isLocked()`, or has keys.
 */
export function tryAcquire(
  lock: MutexInterface & Closable,
  error?: Error,
): MutexInterface & Closable
export function tryAcquire(
  lock: SemaphoreInterface & Closable,
  error?: Error,
): SemaphoreInterface & Closable
export function tryAcquire(lock: MutexInterface, error?: Error): MutexInterface
export function tryAcquire(lock: SemaphoreInterface, error?: Error): SemaphoreInterface
