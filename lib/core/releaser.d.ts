/// <reference path="disposable.d.ts" />
import type { Engine } from '../cluster/options.js'
import type { Key } from '../locks/keyed.js'

/**
 * What a holder is told of its grant: callbacks of `runExclusive` and `runShared` have it as their argument (of a
 * semaphore as the second one), and every {@link Releaser} has it, too.
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
   * The last holder died with the lock: look at what it left. (The other ways to lock are not told,
   * and the next holder is not told either. A caller that could not have all of several keys leaves it to the next.)
   */
  readonly abandoned: boolean
  /**
   * Of scope `'host'`: the number of this grant, which is larger than that of any grant of the lock (or the key)
   * that was over before this one began; whatever crashed in between, and also where the files have been removed.
   * Store it with what the lock protects, and refuse to write where a larger one is stored: so a process that
   * was stopped for a while, and lost the lock, does no harm. Drawn when it is first asked for: after the end of
   * the grant it is undefined, unless it was asked for before. Of several keys at once it is one number, for all of them.
   *
   * Of a lock over an {@link Engine}: the same, also after a failover of its server (docs/engines.md), and known from the
   * start. Where several keys were locked at once it is undefined: see `fencingTokens`.
   */
  readonly fencingToken?: bigint
  /**
   * Of several keys that were locked at once over an {@link Engine}: the fencing token of each. (They are for the store of
   * that key: they do not compare with each other.)
   */
  readonly fencingTokens?: ReadonlyMap<Key, bigint>
  /**
   * Of a lock over an {@link Engine}: aborted, with an error of code `ERR_LOCK_LOST`, when the lock has been lost while
   * it was held, before the server can give it to anybody else. Of several keys: when the first of them has been lost.
   * The same for a lock of scope `'host'` with a `maxHold` or a `minHold`; the others of that scope have none.
   */
  readonly signal?: AbortSignal
}

/**
 * Lets go of one grant: call it, call its `release()`, or leave it to `using`. Once is enough: a
 * Releaser whose grant is over does nothing, whatever ended the grant.
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
