import type { DeadlockStep, HoldMode, LockKind, LockScope } from '../core/errors.js'
import type { Key } from '../core/keys.js'

/** A holder of a lock. */
export interface LockHolder {
  /** The `threadId` (of node:worker_threads) of the holder: 0 is the main thread. Undefined for another process. */
  thread?: number | undefined
  /** At scope `'host'`: the id of the holder's process. */
  pid?: number | undefined
  /**
   * The time of the grant, in milliseconds since the epoch. With `'counters'` it may be a slightly earlier time in the
   * same turn of the event loop. Undefined for a holder in another process. Undefined for a holder in another thread,
   * unless that thread has answered {@link snapshot}.
   */
  since?: number | undefined
  /** How long the holder has held the lock, in milliseconds. */
  heldFor?: number | undefined
  mode?: HoldMode | undefined
  /**
   * For a semaphore: the units that it holds. With `'counters'` all grants of one turn of the event loop count as one
   * holder.
   */
  weight?: number | undefined
  /** With `diagnostics: true`: the stack of the acquire. */
  stack?: string | undefined
  /** With `diagnostics: true`: true if the Releaser was collected as garbage, so that the lock stays locked. */
  isLeaked?: true | undefined
}

/** A waiter of a lock. */
export interface LockWaiter {
  /** The `threadId` of the waiter: 0 is the main thread. */
  thread: number
  /** The time when the wait began, in milliseconds since the epoch. */
  since: number
  /** How long the waiter has waited, in milliseconds. */
  waitedFor: number
  mode?: HoldMode | undefined
  /** For a semaphore: the units that it waits for. */
  weight?: number | undefined
  /** With `diagnostics: true`: the stack of the acquire. */
  stack?: string | undefined
}

/** Totals since the lock was constructed. */
export interface LockTotals {
  /** The number of grants. A downgrade, and acquiring the mutex again after a condition variable, count as grants. */
  acquisitions: number
  /** The number of grants that came after a wait. */
  contended: number
  /** The number of acquires that timed out, including those with `timeout: 0`. */
  timeouts: number
  /**
   * The number of acquires that rejected for another reason: a signal, `cancel()`, a full queue (`maxPending`), `close()`,
   * removed files at scope `'host'`, or an engine's server that did not answer.
   */
  aborts: number
  /** The number of grants after the death of a holder. */
  abandoned: number
  /**
   * The number of waits that were refused with `ERR_LOCK_DEADLOCK`. A blocking call for a lock that this thread already
   * holds never waits, and does not count.
   */
  deadlocks: number
}

/** The distribution of wait times of contended grants, or of hold times, in milliseconds. */
export interface LockTimes {
  /** The median. All three percentiles are upper bounds: at least the exact time, and less than twice as much. */
  p50: number
  p90: number
  p99: number
  /** The exact maximum. */
  max: number
  /** Bucket `i` counts times from 2^(i - 1) up to 2^i microseconds; the last bucket has no upper bound. */
  buckets: number[]
}

/** The wait times of the contended grants. */
export type LockWaits = LockTimes

/** The properties that a lock with diagnostics adds to its snapshot. */
export interface LockDiagnostics {
  /** All holders of this thread, and the known holders of other threads and processes. */
  holders?: LockHolder[] | undefined
  /** How long the oldest waiter of this thread has waited, in milliseconds. */
  oldestWait?: number | undefined
  /** The totals of this thread. A keyed lock has totals for all its keys together: see {@link snapshot}. */
  totals?: LockTotals | undefined
  /** The wait times of this thread. */
  waits?: LockWaits | undefined
}

/** A lock, or a key of a keyed lock, in a {@link ProcessSnapshot}. */
export interface LockReport {
  kind: LockKind
  name?: string | undefined
  /**
   * A keyed lock has one report without a key, for its totals, and one for each key that is held or waited for. At scope
   * `'host'` the `key` of a long key that only other processes use is a string with its beginning.
   */
  key?: Key | undefined
  scope: LockScope
  /** The thread that the lock belongs to. Undefined when threads share it. */
  thread?: number | undefined
  /** For a lock without a name, with `diagnostics: true`: the stack of its constructor. Undefined for a key. */
  madeAt?: string | undefined
  /** Identifies the lock or key, even without a name. The same in every snapshot. */
  id: string
  /** For a key: the `id` of its keyed lock's report. */
  map?: string | undefined
  /** The holders in all threads that answered, without duplicates. */
  holders: LockHolder[]
  /** The number of waiters, promises and blocked threads. */
  waiting: number
  /** How long the oldest waiter of all threads that answered has waited, in milliseconds. */
  oldestWait?: number | undefined
  /** The waiters in all threads that answered, the oldest first, at most 20. Blocked threads are not among them. */
  waiters: LockWaiter[]
  /** The totals of all threads that answered, together. Undefined for a key. */
  totals?: LockTotals | undefined
  /** The wait times of the contended grants. Undefined for a key. */
  waits?: LockWaits | undefined
  /** The hold times of the holds that have ended. */
  holds?: LockTimes | undefined
}

/** A deadlock that was prevented: one acquire of the cycle has failed. */
export interface DeadlockReport {
  /** The time, in milliseconds since the epoch. */
  at: number
  /** The error's message, which draws the cycle. */
  message: string
  /** Each waiter in the cycle, with the lock that it waits for and the locks that it holds. */
  cycle: DeadlockStep[]
}

/** The result of {@link snapshot}. */
export interface ProcessSnapshot {
  /** The time when the snapshot was requested, in milliseconds since the epoch. */
  at: number
  /** The id of this process. */
  pid: number
  /**
   * The threads that have a lock with diagnostics, by their `threadId`. A thread that is blocked, or busy for more than
   * 250 ms, does not answer.
   */
  threads: { id: number; answered: boolean }[]
  /** The locks, and the keys that are held or waited for, of all threads that answered. */
  locks: LockReport[]
  /** The latest deadlocks that were prevented, newest last: at most 16 of each thread. */
  deadlocks: DeadlockReport[]
}

/**
 * Resolves to the state of all locks with diagnostics in all threads of this process. Resolves when all threads have
 * answered, or after 250 ms, and never rejects. A pending snapshot keeps the event loop alive.
 *
 * Each thread reports all its locks in one turn of its own event loop. So its report is of one moment, and reports of
 * different threads are of slightly different moments. The calling thread merges the reports in another turn. Each of
 * these turns takes tens of microseconds per busy key: with 50,000 busy keys it may last a second.
 *
 * @example
 * const users = new KeyedMutex({ name: 'watched users', diagnostics: 'counters' })
 * await users.runExclusive('ann', async () => {
 *   const { locks } = await snapshot()
 *   const ann = locks.find(({ name, key }) => name === 'watched users' && key === 'ann')
 *   assert.equal(ann.kind, 'KeyedMutex')
 *   assert.equal(ann.holders.length, 1)
 *   assert.equal(ann.waiting, 0)
 * })
 */
export function snapshot(): Promise<ProcessSnapshot>

/** The message of the channels `boxoffice:...` of node:diagnostics_channel. See docs/diagnostics.md. */
export interface LockEvent {
  kind: LockKind
  name?: string | undefined
  key?: Key | undefined
  scope: LockScope
  mode?: HoldMode | undefined
  /** The units, for a semaphore. */
  weight?: number | undefined
  /** The thread of the event. */
  thread: number
  /** For `boxoffice:admit`, `:abort` and `:timeout`: the length of the wait in milliseconds. */
  waited?: number | undefined
  /**
   * Identifies one wait, for instance as a key of a WeakMap. It is the same object in `boxoffice:wait`, which is
   * published in the caller's async context, and in the event that ends the wait. Undefined if there was no wait, or if
   * `boxoffice:wait` had no subscriber.
   */
  wait?: object | undefined
  /** For `boxoffice:release`: the length of the hold in milliseconds. */
  held?: number | undefined
  /**
   * For `boxoffice:abort`: the reason that the acquire rejects with. For `boxoffice:deadlock`: the error, with its
   * `cycle`.
   */
  reason?: unknown | undefined
}
