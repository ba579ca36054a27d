/// <reference path="../core/disposable.d.ts" />

/**
 * Extends a lock to every process that has an engine for the same server. `redis(client)` of `boxoffice/redis`, for
 * example, makes one. Pass it to the constructors of `Mutex`, `RecursiveMutex`, `Semaphore` and `RWLock` (with a
 * `name`), `KeyedMutex`, `KeyedSemaphore`, `KeyedRWLock` and `LockManager`. See docs/engines.md.
 *
 * Methods that would have to answer at once throw a TypeError over an engine, because only the server knows the answer.
 * They are the methods whose names end in `Sync` or begin with `try`, except for `tryRunExclusive()` and
 * `tryRunShared()`. Use `acquire(key, { ifAvailable: true })`, which asks the server once. `isLocked()`, `size`,
 * `snapshot()` and other methods that read state cover only this thread.
 *
 * When the server does not answer within `timeout`, or within the engine's `answerTimeout` if that is shorter,
 * acquiring rejects with `ERR_LOCK_ENGINE`. Both begin to count when the first session of this thread is open: see
 * {@link Engine.ready}. Acquiring rejects with `ERR_LOCK_ENGINE_VERSION` when another version of this package uses the
 * server, and stores locks in another form.
 *
 * Each engine has a thread and connections of its own: make it once, not for each request. More than ten open engines
 * warn with `BOXOFFICE_MANY_ENGINES`.
 *
 * When a process dies, the server frees its locks within `ttl`, and the next grant is `abandoned`.
 */
export interface Engine extends AsyncDisposable {
  /**
   * Opens the session of this thread: starts the renewing thread, loads its client, connects, and checks the server.
   * Await it when the process starts. Without it, the first call that acquires a lock opens the session, by the client
   * of this thread, and the renewing thread connects later, before the first renewal. If that fails, the locks are lost
   * after `ttl`. `ready()`, called before the first lock, shows such a failure at once.
   *
   * The promise resolves when the server can grant a lock. It rejects with `ERR_LOCK_ENGINE` when the first attempt fails,
   * and `cause` says why (a wrong password, a server that is away); with another code that begins with `ERR_LOCK_ENGINE`,
   * or `ERR_LOCK_MISMATCH`, for a server that the engine cannot use; and with the reason of `signal`. A rejected call
   * changes nothing: call it again to try again. A pending call keeps the process alive.
   */
  ready(options?: ReadyOptions): Promise<void>

  /**
   * Releases every lock of this thread, aborts the `signal` of each Releaser, rejects every waiter with
   * `ERR_LOCK_ENGINE`, and closes the engine's own connections. It does not close the client that it was given.
   *
   * If the server cannot be told, or does not answer within `answerTimeout`, the promise rejects with `ERR_LOCK_ENGINE`
   * after all of that, and the server frees the locks within `ttl`. An engine of Redis sends its commands through the
   * client, so close the engine before the client. Later calls wait for the same end, and resolve.
   */
  close(): Promise<void>
}

/** How long {@link Engine.ready} waits. */
export interface ReadyOptions {
  /** The longest wait, in milliseconds. After it the promise rejects with `ERR_LOCK_ENGINE`. @default 30_000 */
  timeout?: number | undefined
  /** Ends the wait when it aborts. The session may still open later. */
  signal?: AbortSignal | undefined
}

/** The options of all engines. Times are in milliseconds, from 100 to 2^31 - 1. */
export interface EngineOptions {
  /**
   * How long the server keeps the locks of a thread after the last renewal of its session. A separate thread renews the
   * session three times per `ttl`, even while the event loop is blocked. @default 10_000
   */
  ttl?: number | undefined
  /**
   * The longest time of one lease: `ttl` or more. The waiters of a thread pass a lease on, and each holder has at least
   * half of this time: see docs/hold-times.md. @default 60_000
   */
  maxHold?: number | undefined
  /**
   * How long to wait for an answer of the server, unless the caller's `timeout` is shorter. The start of the engine has
   * a separate limit of 30 s. @default 5000
   */
  answerTimeout?: number | undefined
}
