import type { Closable } from './closable.js'
import type { MutexInterface } from './mutex.js'
import type { SemaphoreInterface } from './semaphore.js'

/**
 * Wraps a Mutex or a Semaphore so that each wait rejects with `error` after `timeout` ms. The late waiter leaves the
 * queue at once. A negative or NaN `timeout` admits only callers that need not wait; `Infinity` means no limit. Over an
 * engine that has failed or is silent, the rejection is its `ERR_LOCK_ENGINE`, not `error`. For other locks, and for
 * `using` in TypeScript, set the constructor's `timeout` instead.
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
 * Wraps a lock so that a call rejects with `error` when the lock cannot be acquired in this turn of the event loop, as
 * `withTimeout(lock, 0, error)` does. A lock over an engine asks its server, which takes one round trip.
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
