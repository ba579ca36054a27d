import type { Releaser } from '../core/releaser.js'

/**
 * The scope of a lock. At scope `'host'` all processes of this machine that run as this user share the lock, with all
 * their threads. They find it by its class and its `name`. The differences from a lock that threads share:
 *
 * - When a process ends while it holds the lock, also by SIGKILL, the next waiter acquires it, and its grant is
 *   `abandoned`. A process that is stopped (SIGSTOP) keeps the lock.
 * - Releasers have a {@link Releaser.fencingToken}, and snapshots list the processes.
 * - There is no `buffer`. A ConditionVariable and its mutex must both have scope `'host'`.
 * - A wait keeps the process alive, because another process could release the lock. It does not if this thread holds it.
 * - Order is bounded among processes, as among threads. With `fairness: 'fifo'` waiting processes take turns, one grant
 *   each. The waiters of one thread are in one queue.
 *
 * Each class and name has a file. A process maps the file until the process ends, even if it has no lock of that name
 * any more. If there may be any number of names, such as the names of users, use them as the keys of one keyed lock.
 *
 * The constructor throws an Error that says what is wrong and what to do:
 *
 * - `ERR_LOCK_UNSUPPORTED` when the directory is on a network file system;
 * - `ERR_LOCK_SEGMENT` when the directory or a file in it is invalid or not accessible;
 * - `ERR_LOCK_CAPACITY` when 127 processes already have locks there;
 * - `ERR_LOCK_FORKED` in a copy of a process with such locks that `fork(2)` has made;
 * - `ERR_LOCK_MISMATCH` when the lock exists with another value, count, number of parties or capacity.
 *
 * @example
 * // In each worker of a cluster: the requests of one user run one after the other, even in different workers.
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
export type HostOptions = ProcessScope | HostScope

export interface ProcessScope {
  /**
   * All threads of this process. Needs a `name`, a `buffer` or `shared: true`, each of which is enough without `scope`.
   *
   * @default `'process'` with a `name`, a `buffer` or `shared: true`, else one thread
   */
  scope?: 'process' | undefined
  directory?: undefined
}

export interface HostScope {
  /** All processes of this machine that run as this user. Needs a `name`. */
  scope: 'host'

  /**
   * The directory of the lock's file: an absolute path, the same for all processes. The constructor creates a missing
   * directory with mode 0700. An existing directory must belong to this user, and no other user may have write access.
   * For containers use a shared volume in memory or on a local disk, not on a network.
   *
   * @default the environment variable BOXOFFICE_DIRECTORY, else /dev/shm/boxoffice-<user id>
   */
  directory?: string | undefined
}

export type KeyedHostOptions = KeyedProcessScope | KeyedHostScope

export interface KeyedProcessScope extends ProcessScope {
  capacity?: undefined
}

export interface KeyedHostScope extends HostScope {
  /**
   * How many keys can be held or waited for at once, by all processes together, from 1 to 2^24. The
   * process that constructs the lock first sets the capacity. A constructor with another capacity throws
   * `ERR_LOCK_MISMATCH`.
   *
   * The capacity reserves room. To limit how many keys are held at once, use a `Semaphore`. The table has at least
   * twice as many entries, in buckets of 64 entries. The number of buckets is a power of two, so a `capacity` of 1 to
   * 32 has room for 64 keys. When the bucket of a key is full, acquiring that key fails with `ERR_LOCK_CAPACITY`:
   * `acquire` of one key throws it, `acquire` of several keys and `runExclusive` reject with it. Before that, the table
   * reuses the entry of a key whose holder died, and then the next grant of that key is not `abandoned`.
   *
   * The lock's file grows with the keys that are in use: from an eighth of its largest size to 0.3 KB for each key of
   * the capacity (0.4 KB in a KeyedRWLock, 2.5 KB in a KeyedSemaphore). A capacity between two powers of two takes the
   * file of the larger one. When the disk or the memory has no room, acquiring fails in the same way, with
   * `ERR_LOCK_SEGMENT`.
   *
   * @default 65,536; 16,384 for a KeyedRWLock and a LockManager; 4,096 for a KeyedSemaphore
   */
  capacity?: number | undefined
}

/** At scope `'host'`: the ids of the processes that hold a lock or wait for it. */
export interface HostSnapshot {
  /** The processes that hold the lock. */
  holderPids?: number[]
  /** The processes that wait for the lock. (`waiting` counts the waiters of this process.) */
  waiterPids?: number[]
}
