/// <reference path="../core/disposable.d.ts" />

/**
 * Extends a lock to every process that has an engine for the same server. `redis(client)` of `boxoffice/redis` makes
 * one. Pass it to the constructors of `Mutex`, `RecursiveMutex`, `Semaphore` and `RWLock` (with
 * a `name`), `KeyedMutex`, `KeyedSemaphore`, `KeyedRWLock` and `LockManager`. See
 * docs/engines.md.
 *
 * Methods that would have to answer at once throw a TypeError over an engine, because only the server knows the answer.
 * They are the methods whose names end in `Sync` or begin with `try`, except for `tryRunExclusive()` and `tryRunShared()`.
 * Use `acquire(key, { ifAvailable: true })`, which asks the server once. `isLocked()`, `size`, `snapshot()` and other
 * methods that read state cover this thread only.
 *
 * When the server does not answer within `timeout`, or within the engine's `answerTimeout` if that is shorter, acquiring
 * rejects with `ERR_LOCK_ENGINE`. Both begin to count when the first session of this thread is open: see
 * {@link Engine.ready}. Acquiring rejects with `ERR_LOCK_ENGINE_VERSION` when a version of this package that stores locks
 * in another way uses the server.
 *
 * When a process dies, the server frees its locks within `ttl`, and the next grant is `abandoned`.
 */
export interface Engine extends AsyncDisposable {
  /**
   * Opens the session of this thread: the renewing thread, its client, the connections, and the checks of the server.
   * Await it when the process starts. Without it the first call that acquires a lock opens the session, by the client of
   * this thread, and the renewing thread connects later, before the first renewal. If it cannot, the locks are lost after
   * `ttl`. `ready()`, called before the first lock, tells at once.
   *
   * The promise resolves when the server can grant a lock. It rejects with `ERR_LOCK_ENGINE` when the first attempt fails,
   * and `cause` says why (a wrong password, a server that is away); with another code that begins with `ERR_LOCK_ENGINE`
   * for a server that the engine cannot use; and with the reason of `signal`. A rejected call changes nothing: call it
   * again to try again. A pending call keeps the process alive.
   */
  ready(options?: ReadyOptions): Promise<void>

  /**
   * Releases every lock of this thread, aborts the `signal` of each Releaser, rejects every waiter with
   * `ERR_LOCK_ENGINE`, and closes the engine's own connections. It leaves open the client that it was given.
   *
   * When the server cannot be told, or has not answered within `answerTimeout`, the promise rejects with
   * `ERR_LOCK_ENGINE` after all of that, and the server frees the locks within `ttl`. So close the engine before a
   * client of Redis: its commands go through the client. Later calls wait for the same end, and resolve.
   */
  close(): Promise<void>
}

/** How long {@link Engine.ready} waits. */
export interface ReadyOptions {
  /** The longest wait, in milliseconds. After it the promise rejects with `ERR_LOCK_ENGINE`. @default 30_000 */
  timeout?: number | undefined
  /** Ends the wait. The session may open nevertheless. */
  signal?: AbortSignal | undefined
}

/** The options of all engines. Times are in milliseconds, from 100 to 2^31 - 1. */
export interface EngineOptions {
  /**
   * How long the server keeps the locks of a thread after the last renewal of its session. A separate thread renews the
   * session three times per `ttl`, also while the event loop is blocked. @default 10_000
   */
  ttl?: number | undefined
  /**
   * The longest time that one lease lasts: `ttl` or more. The waiters of a thread share a lease, and a holder has at least
   * half of this time: see docs/hold-times.md. @default 60_000
   */
  maxHold?: number | undefined
  /**
   * How long to wait for an answer of the server, unless the caller's `timeout` is shorter. The start of the renewing
   * thread has a limit of its own, 30 s. @default 5000
   */
  answerTimeout?: number | undefined
}
