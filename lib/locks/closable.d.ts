/** Methods that end the use of a lock or a keyed lock in order. */
export interface Closable {
  /**
   * Closes this object to new callers, even when the lock is free. Methods that acquire, and `waitForUnlock()`, reject
   * with `ERR_LOCK_CLOSED`, or throw it if they return no promise. Callers that already wait still get the lock.
   * Holders may release, upgrade, downgrade, wait for a condition, and acquire a {@link RecursiveMutex} again.
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
   * Resolves when no caller of this thread holds the lock or waits to acquire it. For a keyed lock this means all of
   * its keys. By then the thread has given a lock of a wider scope back, and an engine has told its server. Other
   * threads and processes may hold the lock.
   *
   * A caller that waits for a condition variable counts as a holder of its mutex. A semaphore counts as held until
   * Releasers or `release()` of this thread have put back as many units as this thread has taken.
   *
   * A pending call keeps the process alive only if a `maxHold` will end the last hold, or while an engine tells its
   * server of a release. Rejects with `ERR_LOCK_ENGINE` when the server does not answer within `answerTimeout`.
   */
  onIdle(): Promise<void>
}
