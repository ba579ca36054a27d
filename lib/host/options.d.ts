import type { Releaser } from '../core/releaser.js'

/**
 * How far a lock reaches. Of scope `'host'`: all processes of this machine that run as this user, and all
 * their threads. They find the lock by its kind and its `name`. What differs from a lock of threads:
 *
 * - when a process ends that holds it, be it by SIGKILL, the next one gets it, and its Releaser says `abandoned`.
 * - its Releasers have a {@link Releaser.fencingToken}, and snapshots tell the processes.
 * - it has no `buffer`, and a ConditionVariable takes none of them. `cancel()` is for those of this thread.
 * - a wait keeps the process alive, unless this very thread holds the lock: another process could let go.
 * - fairness is bounded among processes, as among threads: those of one thread stand in one line.
 *
 * The constructor throws an Error that says what is wrong and what to do: `ERR_LOCK_UNSUPPORTED` where there are
 * no such locks (macOS and Windows, for now; a network's file system), `ERR_LOCK_SEGMENT` when the directory or a
 * file there is not what it should be or cannot be had, `ERR_LOCK_CAPACITY` when 127 processes have locks
 * there already, `ERR_LOCK_MISMATCH` when it has been made with another value or capacity.
 *
 * @example
 * // In each worker of a cluster: a user's requests go one after the other, whichever worker has them.
 * const users = new KeyedMutex({ scope: 'host', name: 'users' })
 * app.post('/tickets', (request, response, next) => {
 *   users
 *     .runExclusive(request.user, async () => {
 *       const order = await findOrder(request.user)
 *       return order ?? (await createOrder(request.user))
 *     })
 *     .then((order) => response.json(order), next)
 * })
 */
export interface HostOptions {
  /**
   * `'process'`: all threads of this process, if there is a `name`, a `buffer` or `shared: true`, else this one.
   *
   * @default 'process'
   */
  scope?: 'process' | 'host'

  /**
   * Where the lock's file lies, an absolute path: all processes must say the same. Made with mode 0700 where it
   * is not there; else it must be this user's own, and no others may write there. For containers: a volume
   * that they share, in memory or on a local disk, not of a network.
   *
   * @default the environment's BOXOFFICE_DIRECTORY, else /dev/shm/boxoffice-<user id>
   */
  directory?: string
}

export interface KeyedHostOptions extends HostOptions {
  /**
   * Of scope `'host'`: how many keys may be held or waited for at once, by all processes together; from 1 to
   * 2^24. One more is `ERR_LOCK_CAPACITY`. The first one to construct it decides, and whoever asks for another
   * capacity later gets `ERR_LOCK_MISMATCH`. A key takes 0.3 KB of memory, of a read-write lock 0.4, of a
   * semaphore 1.5, whether it is in use or not.
   *
   * @default 65,536; of a KeyedRWLock and a LockManager 16,384, of a KeyedSemaphore 4,096
   */
  capacity?: number
}

/** Of scope `'host'`: the processes that have to do with a lock, by their ids. */
export interface HostSnapshot {
  /** Those that hold it. */
  holderPids?: number[]
  /** Those that wait for it. `waiting` counts those of this process. */
  waiterPids?: number[]
}
