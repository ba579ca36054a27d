/** An orderly end for locks and keyed locks, as {@link Mutex} and {@link KeyedMutex} have it. */
export interface Closable {
  /**
   * Closes this object to new callers, even when the lock is free: methods that return a promise reject with
   * `ERR_LOCK_CLOSED`, the others throw it. Callers that already wait are still served. Holders go on: they may
   * release, upgrade, downgrade, wait for a condition, and acquire a {@link RecursiveMutex} again.
   *
   * Resolves when {@link Closable.onIdle} would. Await it before the process exits, and not while you hold the lock.
   *
   * Other objects for the same lock stay open, in this thread and elsewhere. Idempotent.
   *
   * @example
   * const orders = new KeyedMutex()
   * const working = orders.runExclusive('ada', () => createOrder('ada'))
   *
   * const closing = orders.close() // The running callback goes on.
   * await assert.rejects(orders.acquire('bob'), { code: 'ERR_LOCK_CLOSED' })
   * await working
   * await closing
   */
  close(): Promise<void>

  /**
   * Resolves when no caller of this thread holds the lock or waits to acquire it; for a keyed lock, any of its keys.
   * Resolves at once when that is so already. In wider scopes the thread has given the lock back by then, and over an
   * engine the server knows it. Other threads and processes may hold the lock.
   *
   * A caller that waits for a condition variable counts as a holder of its mutex. A semaphore counts as held until
   * Releasers or `release()` of this thread have put back as many units as this thread has taken.
   *
   * The process stays alive for it only where the last hold ends by itself, after its `maxHold`, and over an engine while
   * the server is being told. Rejects with `ERR_LOCK_ENGINE` when the server does not answer within `answerTimeout`.
   */
  onIdle(): Promise<void>
}
