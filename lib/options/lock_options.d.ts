import type { WaitOptions } from '../core/options.js'
import type { DiagnosticsOptions } from '../diagnostics/options.js'

/**
 * How threads share a lock, and how it behaves. Objects of one lock may differ in `fairness` and
 * `allowBlockingMainThread`.
 */
export interface LockOptions {
  /**
   * All threads of the process that construct a lock of this kind with this name share one lock. (A Mutex and a
   * KeyedMutex of the same name are two locks.) The lock lives as long as any thread has an object for it, and longer
   * while it, or one of its keys, is not in its initial state.
   *
   * A name alone shares the lock within this process only. In a worker of node:cluster, and in one of several instances
   * of PM2, the first such lock of a thread emits a `BoxofficeWarning` with the code `BOXOFFICE_ONE_PROCESS`. Give the
   * lock `scope: 'host'` for all processes of this user on the machine, or `scope: 'process'` for the threads of this
   * process.
   */
  name?: string | undefined

  /**
   * The order of hand-offs between threads. Within a thread the queue is always first in, first out.
   *
   * `'bounded'`: while other threads wait, a thread may hand the lock to its own waiters for at most 1 ms, and may
   * acquire it again before the next waiter of another thread has woken up. A waiter that is awake and has been
   * overtaken for 1 ms acquires the lock next. This is faster, because a hand-off to another thread takes a thousand
   * times as long as one within the thread.
   *
   * `'fifo'`: strictly first in, first out, for waiters of an object with this option. If any object of a thread has
   * this option for a mutex, or for a lock over an engine, it applies to all objects of the thread for that lock.
   *
   * At scope `'host'` the `'fifo'` order is strict within a process, and waiting processes take turns, one grant each:
   * a process has one place in the queue for all its waiters, and queues again behind the others after each grant. The
   * queue has four places. Further processes get a place in turn, by the number of their process slot.
   *
   * Over an engine a thread, too, has one place in the queue for all its waiters of a mutex, and for all its readers.
   *
   * @default 'bounded'
   */
  fairness?: 'bounded' | 'fifo' | undefined

  /**
   * Allows the methods whose names end in `Sync` to block the main thread. While it blocks, no promise, timer or
   * connection of that thread makes progress.
   *
   * @default false
   */
  allowBlockingMainThread?: boolean | undefined
}

export interface BufferOptions {
  /**
   * The memory of the lock, instead of a name. All threads that construct the lock in the same buffer at the same
   * offset share it.
   */
  buffer?: SharedArrayBuffer | undefined

  /**
   * The lock's offset in `buffer`, in bytes: a multiple of 4. A Mutex, a RecursiveMutex, an RWLock and a
   * ConditionVariable take 4 bytes, all other locks 8. The bytes must be 0 before the first lock is constructed there,
   * and no other lock and no data may use them.
   *
   * @default 0
   */
  byteOffset?: number | undefined

  /**
   * Gives the lock shared memory of its own: its `buffer`, with which other threads construct it. With a `name` this
   * option has no effect, because the name shares the lock. Reading the `buffer` of a lock that has a `name`, or
   * neither `buffer` nor `shared`, throws a TypeError.
   *
   * @default false
   */
  shared?: boolean | undefined
}

export interface CancelOptions {
  /** The reason that waiters reject with when `cancel()` is called without one. @default E_CANCELED */
  cancelError?: unknown
}

export interface MaxHoldOptions {
  /**
   * The longest time in milliseconds that one hold lasts, from 100 to 2^31 - 1, or Infinity. After that time the hold's
   * `signal` aborts with `ERR_LOCK_LOST`. Then the next waiter acquires the lock, and its grant is `abandoned` (at
   * scope `'host'` not after a reader). The callback keeps running until it heeds the signal.
   *
   * For locks of scope `'host'` and locks over an engine, where it replaces the engine's own `maxHold`. The
   * constructors of other locks throw `ERR_LOCK_UNSUPPORTED`.
   *
   * With Infinity the hold lasts until its release, or until its thread ends; over an engine, until the thread's
   * session ends.
   *
   * @default the engine's `maxHold`; at scope `'host'` Infinity
   */
  maxHold?: number | undefined
}

/**
 * The longest and the shortest time of a hold: see docs/hold-times.md. All objects of one lock must have the same
 * times, in all threads and processes. The constructor throws `ERR_LOCK_MISMATCH` if another object of this thread has
 * other times. It does not check the times of other threads and processes.
 *
 * At scope `'host'` a lock with either time throws `ERR_LOCK_UNSUPPORTED`
 *
 * - in the constructor of a mutex with `fairness: 'fifo'`;
 * - in every method that ends in `Sync`;
 * - in `release()` of a semaphore: use the Releasers;
 * - with a `minHold` in `tryUpgrade()` and `downgrade()` of a read-write lock; its `upgrade()` rejects with the error.
 */
export interface HoldOptions extends MaxHoldOptions {
  /**
   * The time in milliseconds after a grant in which no other caller acquires the lock, from 0 to 2^31 - 1, and not more
   * than `maxHold`. It applies even if the holder has released the lock, or has died. So when many processes start a
   * job at about the same time, one process runs it: docs/recipes/cron.md.
   *
   * For mutexes over an engine and all locks of scope `'host'`. At scope `'host'` a grant of a semaphore keeps its
   * units, a writer excludes all other callers, and a reader excludes writers. The constructors of other locks throw
   * `ERR_LOCK_UNSUPPORTED`.
   *
   * @default 0
   */
  minHold?: number | undefined
}

/** Defaults for every wait of an object, except upgrades. Each wait may override them. */
export interface WaitDefaults {
  /** The longest wait in milliseconds: see {@link WaitOptions.timeout}. @default Infinity */
  timeout?: number | undefined
  /**
   * The largest number of callers of this thread that may wait; for a keyed lock, per key. One more caller rejects with
   * `ERR_LOCK_QUEUE_FULL` at once.
   *
   * @default Infinity
   */
  maxPending?: number | undefined
}

/** The options of a lock that callers hold, without the options of its scope. */
export interface HoldableOptions
  extends LockOptions,
    WaitDefaults,
    HoldOptions,
    BufferOptions,
    CancelOptions,
    DiagnosticsOptions {}
