/// <reference path="disposable.d.ts" />
import type { Engine } from '../cluster/options.js'
import type { Key } from '../locks/keyed.js'

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
   * The last holder died with the lock: check the state that it left. One holder is told, which may be a reader, and
   * the holders after it are not. If its repair throws, the next holder is not told either: leave a mark of your own in
   * the state. `lock()` and `unlock()` use the notice up without telling it. The death of a reader is not told, because
   * it has changed nothing. A caller that could not acquire all of several keys leaves the notice to the next holder.
   */
  readonly abandoned: boolean
  /**
   * The number of this grant, larger than that of every grant of the lock (or the key) that was over before this grant
   * began. Store it with what the lock protects, and refuse to write where a larger token is stored. Then a process
   * that was suspended, and lost the lock meanwhile, does no harm.
   *
   * At scope `'host'` it keeps growing after crashes, and after the lock's files have been removed. It is drawn when it
   * is first read, so read it before the grant is over: later it is undefined. Several keys that were acquired at once
   * have one token, which `fencingTokens` has for each key.
   *
   * Over an {@link Engine} it keeps growing after a failover of the server (docs/engines.md), and is known from the
   * start. For several keys that were acquired at once it is undefined: see `fencingTokens`.
   *
   * Locks of one thread and of the threads of a process have none.
   */
  readonly fencingToken?: bigint
  /**
   * The fencing token of each key, when several keys were acquired at once, or one key in an array. Over an
   * {@link Engine} tokens of different keys do not compare with each other.
   */
  readonly fencingTokens?: ReadonlyMap<Key, bigint>
  /**
   * Aborts with an error of code `ERR_LOCK_LOST` when the holder loses the lock: over an {@link Engine} before the
   * server can give it to another caller, unless the event loop is blocked then: an AbortSignal aborts in a turn of it.
   * With several keys it aborts when the first key is lost. At scope `'host'` locks with a `maxHold` or a `minHold` have
   * it, other locks do not.
   */
  readonly signal?: AbortSignal
}

/**
 * Releases one grant: call it, call its `release()`, or leave it to `using`. A Releaser whose grant is over does
 * nothing, whatever ended the grant.
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
