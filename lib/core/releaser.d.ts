/// <reference path="disposable.d.ts" />
import type { Key } from './keys.js'

/**
 * What a holder can know of its grant. Callbacks of `runExclusive` and `runShared` get it as their argument, callbacks
 * of a semaphore as their second one. Every {@link Releaser} has the same properties.
 *
 * @example
 * const mutex = new Mutex()
 * await mutex.runExclusive(async ({ abandoned, signal }) => {
 *   assert.equal(abandoned, false)
 *   signal?.throwIfAborted() // Over an engine, once the lease is lost.
 * })
 */
export interface Grant {
  /**
   * True if the last holder died while it held the lock, or lost it (over an engine, or after a `maxHold`). Then check
   * the state that it left. Only one grant has it, the next one, which may be a reader's. If your repair throws, the
   * holder after you does not learn of the death: leave a mark in the state. `lock()` uses up this grant without
   * showing it. A caller that fails to acquire one of several keys does not use it up. The death of a reader counts
   * only over an engine, since readers change nothing.
   */
  readonly abandoned: boolean
  /**
   * The number of this grant. It is larger than the number of every grant of the lock (or the key) that ended before
   * this grant began. When you read the protected data, store the token with the data. When you write, refuse if a
   * larger token is stored. Then a process that was suspended and lost the lock meanwhile does no harm: see
   * docs/engines.md.
   *
   * At scope `'host'` tokens keep growing after crashes, and after the lock's files have been removed. The token is
   * drawn when this property is first read. Read it before the grant is over, because later it is undefined. Several
   * keys that were acquired at once share one token, which `fencingTokens` repeats for each key.
   *
   * Over an `Engine` tokens keep growing after a failover of the server (docs/engines.md), and the token is known from
   * the start. Do not compare tokens of a semaphore, because several callers hold it at once. For several keys that
   * were acquired at once this property is undefined: see `fencingTokens`.
   *
   * Undefined for locks of one thread and of the threads of a process.
   */
  readonly fencingToken?: bigint | undefined
  /**
   * The fencing token of each key, if the keys were acquired as an array. Over an `Engine` do not compare the tokens of
   * different keys.
   */
  readonly fencingTokens?: ReadonlyMap<Key, bigint> | undefined
  /**
   * Aborts with an error of code `ERR_LOCK_LOST` when the holder loses the lock. Over an `Engine` it aborts before the
   * server can give the lock to another caller. If the event loop is blocked at that time, the signal aborts only in
   * the next turn of the loop, which may be too late. With several keys it aborts when the first key is lost.
   *
   * Locks over an engine always have a signal. Locks of scope `'host'` have one if they have a `maxHold` or a
   * `minHold`. Other locks have none.
   */
  readonly signal?: AbortSignal | undefined
}

/**
 * Releases one grant: call it, call its `release()`, or leave it to `using`. It does nothing once the grant is over,
 * whatever ended it. The call returns at once, and so does `await using`: over an `Engine` the process tells the server
 * afterwards, and `onIdle()` waits for that.
 *
 * @example
 * const mutex = new Mutex()
 * const release = await mutex.acquire()
 * try {
 *   // alone
 * } finally {
 *   release()
 * }
 *
 * @example
 * {
 *   using _ = await mutex.acquire()
 *   assert.equal(mutex.isLocked(), true)
 * }
 * assert.equal(mutex.isLocked(), false)
 */
export interface Releaser extends Grant, Disposable, AsyncDisposable {
  (): void
  release(): void
}

/**
 * What `tryRunExclusive` and `tryRunShared` resolve to: `ran` tells whether the lock was available and the callback
 * ran, `value` is what the callback returned.
 */
export type TryRunResult<T> = { ran: true; value: T } | { ran: false; value: undefined }
