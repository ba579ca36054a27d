import type { Closable } from './closable.js'
import type { MutexInterface } from './mutex.js'
import type { SemaphoreInterface } from './semaphore.js'

/**
 * A lock whose waits all end after `timeout` ms, with `error`. A waiter that is late leaves the queue at once. A limit
 * that is negative or NaN has run out: a free lock is still granted. `Infinity` is no limit.
 *
 * @throws {TypeError} when `lock` has no `acquire()`, or has keys, or `timeout` is neither a number nor a numeral.
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
 * A lock that rejects with `error` when it cannot be had in this turn of the event loop:
 * `withTimeout(lock, 0, error)`.
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
