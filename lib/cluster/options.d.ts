/// <reference path="../core/disposable.d.ts" />
import type { KeyedMutex } from '../locks/keyed_mutex.js'
import type { KeyedRWLock } from '../locks/keyed_rw_lock.js'
import type { KeyedSemaphore } from '../locks/keyed_semaphore.js'
import type { Mutex } from '../locks/mutex.js'
import type { RecursiveMutex } from '../locks/recursive_mutex.js'
import type { RWLock } from '../locks/rw_lock.js'
import type { Semaphore } from '../locks/semaphore.js'
import type { LockManager } from '../weblocks/lock_manager.js'

/**
 * What locks reach as far as, in place of one process: all processes that have an engine for the same server, such as
 * `redis(client)` of `boxoffice/redis` makes one. To be given to the constructors of {@link Mutex}, {@link RecursiveMutex},
 * {@link Semaphore} and {@link RWLock} (with a `name`), {@link KeyedMutex}, {@link KeyedSemaphore}, {@link KeyedRWLock} and {@link LockManager}: docs/engines.md.
 *
 * The methods whose names begin with `try` or end in `Sync` throw a TypeError there: what they promise cannot be known
 * without waiting for the server. `acquire(key, { ifAvailable: true })` asks it once. What can be looked at, such as
 * `isLocked()`, `size` and `snapshot()`, tells of this thread. A server that does not answer within `timeout`, or
 * the engine's `answerTimeout` if that is less, rejects with `ERR_LOCK_ENGINE`.
 */
export interface Engine extends AsyncDisposable {
  /**
   * Gives back all that this thread holds, aborts the `signal` of each Releaser, and closes the connections that the
   * engine has made: not the client that it was given. Every waiter is rejected with `ERR_LOCK_ENGINE`. If the server
   * could not be told, the promise rejects when all of that is done, with `ERR_LOCK_ENGINE` where the server has not
   * answered within `answerTimeout`. The server then finds out within `ttl`.
   */
  close(): Promise<void>
}

/** What all engines take. Times are in milliseconds, from 100 to 2^31 - 1. */
export interface EngineOptions {
  /**
   * How long the server keeps what a process holds after it was last heard of. A thread of its own renews it three
   * times as often, also while the event loop is blocked. @default 10_000
   */
  ttl?: number
  /** How long one lease is kept at most. A holder has at least half of it. Not less than `ttl`. @default 60_000 */
  maxHold?: number
  /** How long the server may take to answer, where the caller's `timeout` is not over before. @default 5000 */
  answerTimeout?: number
}

export interface EngineChoice {
  /** The lock reaches as far as this engine. */
  engine?: Engine
}
