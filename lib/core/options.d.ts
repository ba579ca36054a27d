/**
 * How to wait. A wait rejects with `ERR_LOCK_MEMORY` if there is no memory for another waiter. At scope `'host'` it
 * rejects with `ERR_LOCK_FORKED` in a copy of the process that `fork(2)` has made: see docs/errors.md.
 */
export interface WaitOptions {
  /** Waiters of a higher priority go first. Within a priority the queue is first in, first out. Not NaN. @default 0 */
  priority?: number | undefined
  /**
   * The longest wait in milliseconds, 0 or more. After it the promise rejects with `ERR_LOCK_TIMEOUT`. With 0 a call
   * that would have to wait rejects at once. More than 2^31 - 1 (24 days) means no limit. The wait uses the global
   * `setTimeout` at the time of the call, so fake timers apply.
   *
   * @default the `timeout` of the constructor (not for an upgrade), else no limit
   */
  timeout?: number | undefined
  /**
   * Ends the wait when it aborts: the waiter leaves the queue, and the promise rejects with `signal.reason`, or with an
   * `AbortError` if a polyfill's signal has no reason. It has no effect once the lock has been granted.
   */
  signal?: AbortSignal | undefined
}

/** How to wait when the caller acquires the lock. */
export interface AcquireOptions extends WaitOptions {
  /**
   * How many callers of this thread may wait for the lock, or for the key, with this caller: 0 or more. When that many
   * already wait, the promise rejects with `ERR_LOCK_QUEUE_FULL`.
   *
   * @default the `maxPending` of the constructor, else Infinity
   */
  maxPending?: number | undefined
}

/** {@link AcquireOptions} for some units of a semaphore. */
export interface WeightedAcquireOptions extends AcquireOptions {
  /** How many units to take: an integer from 1 to 2^29 - 1. @default 1 */
  weight?: number | undefined
}

/**
 * Acquires a lock now or not at all: when the caller would have to wait, the promise resolves to undefined, and
 * `runExclusive` does not call its callback. If the callback may return undefined itself, use `tryRunExclusive`.
 * `lock()` and `waitForUnlock()` do not take this option, because they always resolve to undefined.
 *
 * Over an engine the call asks the server once. If the server does not answer, the promise rejects with
 * `ERR_LOCK_ENGINE`.
 *
 * @example
 * const report = new Mutex()
 * const release = await report.acquire({ ifAvailable: true })
 * if (release === undefined) {
 *   // Another caller is making the report.
 * } else {
 *   release()
 * }
 */
export interface IfAvailable extends AcquireOptions {
  /** With true the call does not wait, so `timeout` and `maxPending` have no effect. With false it waits as usual. */
  ifAvailable: boolean
}

/** {@link WaitOptions} for some units of a semaphore. */
export interface WeightedWaitOptions extends WaitOptions {
  /** How many units to wait for: an integer from 1 to 2^29 - 1. @default 1 */
  weight?: number | undefined
}

/** {@link IfAvailable} for some units of a semaphore. */
export interface WeightedIfAvailable extends WeightedAcquireOptions {
  /** See {@link IfAvailable.ifAvailable}. */
  ifAvailable: boolean
}

/**
 * How to wait when the wait blocks the thread. Blocking calls throw a TypeError for a `signal`: use `timeout`. A worker
 * that is terminated while it blocks leaves the queue within 50 ms.
 */
export interface SyncWaitOptions {
  /** Waiters of a higher priority go first, whether they are blocked threads or promises. Not NaN. @default 0 */
  priority?: number | undefined
  /**
   * The longest wait in milliseconds, 0 or more. After it the call throws `ERR_LOCK_TIMEOUT`. With 0 the call never
   * blocks.
   *
   * @default the `timeout` of the constructor (not for an upgrade), else Infinity
   */
  timeout?: number | undefined
}

/** {@link SyncWaitOptions} for some units of a semaphore. */
export interface WeightedSyncWaitOptions extends SyncWaitOptions {
  /** How many units to take: an integer from 1 to 2^29 - 1. @default 1 */
  weight?: number | undefined
}
