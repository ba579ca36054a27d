/// <reference path="disposable.d.ts" />
import type { Key } from './keys.js'

/**
 * What a holder can know of its grant. Callbacks of `runExclusive` and `runShared` get it as their argument, the second
 * one for a semaphore. Every {@link Releaser} has the same properties.
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
   * Whether the last holder died while it held the lock, or lost it (over an engine, or after a `maxHold`): then check the
   * state that it left. Only one holder, perhaps a reader, gets this notice. If its repair throws, the next holder gets no
   * notice: leave a mark of your own in the state. `lock()` and `unlock()` use the notice up without showing it. Within a
   * process and at scope `'host'` the death of a reader gives no notice, because a reader changes nothing; over an engine
   * it does. A caller that could not acquire all of several keys leaves the notice to the next holder.
   */
  readonly abandoned: boolean
  /**
   * The number of this grant. It is larger than the number of every grant of the lock (or the key) that ended before this
   * grant began. When you read the protected data, store the token with the data. When you write, refuse if a larger token
   * is stored. Then a process that was suspended, and lost the lock meanwhile, does no harm: see docs/engines.md.
   *
   * At scope `'host'` it keeps growing after crashes, and after the lock's files have been removed. It is drawn when this
   * property is first read, so read it before the grant is over: later it is undefined. Several keys that were acquired
   * at once have one token, which `fencingTokens` has for each key.
   *
   * Over an `Engine` it keeps growing after a failover of the server (docs/engines.md), and is known from the
   * start. Tokens of a semaphore do not compare there, because several callers hold it at once. For several keys that were
   * acquired at once it is undefined: see `fencingTokens`.
   *
   * Locks of one thread and of the threads of a process have none.
   */
  readonly fencingToken?: bigint | undefined
  /**
   * The fencing token of each key, when several keys were acquired at once, or one key in an array. Over an
   * `Engine` tokens of different keys do not compare with each other.
   */
  readonly fencingTokens?: ReadonlyMap<Key, bigint> | undefined
  /**
   * Aborts with an error of code `ERR_LOCK_LOST` when the holder loses the lock. Over an `Engine` it aborts before
   * the server can give the lock to another caller. If the event loop is blocked at that time, it aborts only in the next
   * turn of the loop, which may be too late. With several keys it aborts when the first key is lost.
   *
   * Locks over an engine always have it. Locks of scope `'host'` have it with a `maxHold` or a `minHold`, other locks
   * never.
   */
  readonly signal?: AbortSignal | undefined
}

/**
 * Releases one grant: call it, call its `release()`, or leave it to `using`. A Releaser whose grant is over does
 * nothing, whatever ended the grant. It returns at once, and so does `await using`: over an `Engine` the server is
 * told afterwards, which `onIdle()` waits for.
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
 * What `tryRunExclusive` and `tryRunShared` resolve to: whether the lock was available and the callback ran, and what it
 * returned.
 */
export type TryRunResult<T> = { ran: true; value: T } | { ran: false; value: undefined }
