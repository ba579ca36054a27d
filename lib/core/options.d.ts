/**
 * How to wait. Any wait may also end with `ERR_LOCK_MEMORY`, where there is no memory for one more who waits, and of
 * scope `'host'` with `ERR_LOCK_FORKED`, in a copy of the process that `fork(2)` has made: see docs/errors.md.
 */
export interface WaitOptions {
  /** Higher goes first; first come, first served within a priority. Not NaN. @default 0 */
  priority?: number
  /**
   * The longest wait in milliseconds: 0 or more, where 0 takes the lock now or not at all. Beyond
   * 2^31 - 1 (24 days) there is no deadline. After it the promise rejects with `ERR_LOCK_TIMEOUT`.
   * The timer is the global `setTimeout` of that moment.
   */
  timeout?: number
  /**
   * Takes this one out of the line: the promise rejects with `signal.reason`. No effect once the lock
   * has been granted.
   */
  signal?: AbortSignal
}

/** How to wait for a lock that the caller is to hold. */
export interface AcquireOptions extends WaitOptions {
  /**
   * The most callers of this thread that may wait for the lock, or for the key, this one included: 0 or more. Where so
   * many wait already, the promise rejects with `ERR_LOCK_QUEUE_FULL`. @default Infinity, or what the constructor says
   */
  maxPending?: number
}

/** {@link AcquireOptions} for some units of a semaphore. */
export interface WeightedAcquireOptions extends AcquireOptions {
  /** How much to take from the value. @default 1 */
  weight?: number
}

/**
 * How to have a lock now or not at all: the promise resolves to undefined where the caller would have to wait, and
 * `runExclusive` then does not call its callback. `lock()` and `waitForUnlock()` do not take it, since they resolve to
 * undefined anyway.
 *
 * Over an engine it asks the server once. A server that does not answer rejects with `ERR_LOCK_ENGINE`.
 *
 * @example
 * const report = new Mutex()
 * const release = await report.acquire({ ifAvailable: true })
 * if (release === undefined) {
 *   // Another caller makes the report already.
 * } else {
 *   release()
 * }
 */
export interface IfAvailable extends WaitOptions {
  ifAvailable: boolean
}

export interface WeightedWaitOptions extends WaitOptions {
  /** How much to take from the value. @default 1 */
  weight?: number
}

/** {@link IfAvailable} for some units of a semaphore. */
export interface WeightedIfAvailable extends WeightedWaitOptions {
  ifAvailable: boolean
}

/**
 * How to wait where the wait blocks the thread. A signal cannot reach a blocked thread: to give one is a
 * TypeError. A worker that is terminated while it blocks notices within 50 ms, and leaves the line.
 */
export interface SyncWaitOptions {
  /** Higher goes first, among promises too. Not NaN. @default 0 */
  priority?: number
  /** The longest wait in milliseconds, 0 or more; 0 never blocks. @default Infinity */
  timeout?: number
}

export interface WeightedSyncWaitOptions extends SyncWaitOptions {
  /** How much to take from the value. @default 1 */
  weight?: number
}
