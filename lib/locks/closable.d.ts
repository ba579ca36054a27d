/** An orderly end for locks and keyed locks. */
export interface Closable {
  /**
   * Closes this object to new callers, even when the lock is free. Methods that acquire, and `waitForUnlock()`, reject
   * with `ERR_LOCK_CLOSED`, or throw it where they return no promise. Callers that already wait are still served. Holders
   * go on: they may release, upgrade, downgrade, wait for a condition, and acquire a {@link RecursiveMutex} again.
   *
   * Resolves and rejects as {@link Closable.onIdle} does. Await it before the process exits, and not while you hold the
   * lock: that deadlocks.
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
   * In wider scopes the thread has given the lock back by then, and over an engine the server knows it. Other threads and
   * processes may hold the lock.
   *
   * A caller that waits for a condition variable counts as a holder of its mutex. A semaphore counts as held until
   * Releasers or `release()` of this thread have put back as many units as this thread has taken.
   *
   * A pending call does not keep the process alive, with two exceptions: a `maxHold` will end the last hold, or an engine
   * is still telling its server of a release. Rejects with `ERR_LOCK_ENGINE` when the server does not answer within
   * `answerTimeout`.
   */
  onIdle(): Promise<void>
}
