/** How locks and keyed maps end in order: {@link Mutex}, {@link KeyedMutex} and the others. */
export interface Closable {
  /**
   * Refuses every caller that comes to this object from now on: the promises of its waits reject with `ERR_LOCK_CLOSED`, and
   * the methods that give no promise throw it, though the lock is free. Callers that wait already are still served, and
   * holders go on: they may release, upgrade, downgrade, wait for a condition, and enter a {@link RecursiveMutex} again.
   *
   * Resolves when {@link Closable.onIdle} would: await it before the process exits, and not while you hold the lock.
   *
   * Other objects that stand for the same lock stay open, in this thread and elsewhere. Idempotent.
   *
   * @example
   * const orders = new KeyedMutex()
   * const working = orders.runExclusive('ada', () => createOrder('ada'))
   *
   * const closing = orders.close() // What runs comes to its end.
   * await assert.rejects(orders.acquire('bob'), { code: 'ERR_LOCK_CLOSED' })
   * await working
   * await closing
   */
  close(): Promise<void>

  /**
   * Resolves when no caller of this thread holds the lock or waits to acquire it, at once where that is so by now: of a
   * keyed map, when that holds for all of its keys. In wider scopes the thread has given the lock back by then, and over an
   * engine the server knows that. Other threads and processes may hold it.
   *
   * A caller that waits for a condition of a mutex holds it. A semaphore is held while units are out that this thread
   * has taken: until as many have come back by Releasers or `release()` of this thread.
   */
  onIdle(): Promise<void>
}
