import type { Engine } from '../cluster/options.js'
import type { Key } from '../locks/keyed.js'

/** How a lock is held, or wanted: exclusively, or shared with others. A semaphore knows weights only. */
export type HoldMode = 'exclusive' | 'shared'

/** A holder of a lock. */
export interface LockHolder {
  /** The `threadId` (of node:worker_threads) of the holder: 0 is the main thread. None, where another process is it. */
  thread?: number
  /** Of scope `'host'`: the process of the holder. */
  pid?: number
  /**
   * Since when, in milliseconds since the epoch. A lock that was free is held since a moment in the same turn of the
   * event loop, which may be a bit earlier than the acquire. None, where it is held elsewhere: in another process, or
   * in another thread than the one asked.
   */
  since?: number
  /** For how many milliseconds. */
  heldFor?: number
  mode?: HoldMode
  /** Of a semaphore: how much of it. With `'counters'` what is held since one turn of the event loop is one holder. */
  weight?: number
  /** With `diagnostics: true`: where it was acquired. */
  stack?: string
  /** With `diagnostics: true`: its Releaser was collected as garbage, and what it holds stays locked. */
  isLeaked?: true
}

/** Counted from the moment when the lock was constructed. */
export interface LockTotals {
  /** How often it was granted. A downgrade and the way back from a condition variable are grants, too. */
  acquisitions: number
  /** How many of those grants had been waited for. */
  contended: number
  /** How many gave up when their timeout was over. */
  timeouts: number
  /** How many gave up by their signal or by `cancel()`, or since the server of an engine was away. */
  aborts: number
  /** How many of the grants told of a holder that had died. */
  abandoned: number
  /** How many were refused, since they would have closed a circle (`ERR_LOCK_DEADLOCK`). */
  deadlocks: number
}

/** How long contended grants were waited for, or how long holds lasted, in milliseconds. */
export interface LockTimes {
  /** Exact to a power of two: no less than the time that it stands for, and less than twice of it. */
  p50: number
  p90: number
  p99: number
  /** Exact. */
  max: number
  /** How many took less than 2^i microseconds, and not less than half of that; the last is open. */
  buckets: number[]
}

/** How long the contended grants were waited for. */
export type LockWaits = LockTimes

/** What the snapshot of a lock with diagnostics has besides. */
export interface LockDiagnostics {
  /** Its holders: all of this thread, and those of other threads and processes that are known. */
  holders?: LockHolder[]
  /** For how many milliseconds the first of this thread that waits has done so. */
  oldestWait?: number
  /** Of this thread. Of a keyed map they are for all its keys together: see {@link snapshot}. */
  totals?: LockTotals
  /** Of this thread. */
  waits?: LockWaits
}

/** A lock, or a key of a keyed map, in a {@link ProcessSnapshot}. */
export interface LockReport {
  kind:
    | 'Mutex'
    | 'RecursiveMutex'
    | 'Semaphore'
    | 'RWLock'
    | 'KeyedMutex'
    | 'KeyedSemaphore'
    | 'KeyedRWLock'
  name?: string
  /** Of a keyed map there is one report without a key, for its totals, and one for each key that is held or waited for. */
  key?: Key
  /** `'cluster'`: over an {@link Engine}. */
  scope: 'process' | 'host' | 'cluster'
  /** The thread that alone knows the lock; none, where threads share it. */
  thread?: number
  /** Tells locks apart that have no name: the same in each snapshot. */
  id: string
  /** Of a key: the `id` of the report of its map. */
  map?: string
  /** Each holder once, of all threads that answered. */
  holders: LockHolder[]
  /** How many wait, promises and blocked threads. */
  waiting: number
  /** For how many milliseconds the first of all threads has waited. */
  oldestWait?: number
  /** Of all threads together. A key has none of its own. */
  totals?: LockTotals
  waits?: LockWaits
  /** How long it was held, by each hold that has ended. */
  holds?: LockTimes
}

/** A deadlock that was found, and refused. */
export interface DeadlockReport {
  /** When, in milliseconds since the epoch. */
  at: number
  /** The message of the error, which draws the circle. */
  message: string
  /** Each waiter in the circle: what it waits for, and what it holds meanwhile. */
  cycle: DeadlockStep[]
}

export interface DeadlockStep {
  thread: number
  waitsFor: DeadlockLock
  holds: DeadlockLock[]
}

export interface DeadlockLock {
  kind: LockReport['kind']
  name?: string
  key?: Key
  /** Where it was acquired, or is asked for. */
  stack?: string
}

export interface ProcessSnapshot {
  /** When, in milliseconds since the epoch. */
  at: number
  pid: number
  /** Threads that have a lock with diagnostics. One that is blocked, or busy for longer than 250 ms, has not answered. */
  threads: { id: number; answered: boolean }[]
  locks: LockReport[]
  /** The last deadlocks that were refused, newest last. */
  deadlocks: DeadlockReport[]
}

/**
 * What all locks with diagnostics of this process are doing, in all threads. Each thread is asked, and answers in a
 * turn of its own event loop, so that the parts are of slightly different moments. It resolves when all have answered,
 * or after 250 ms; it never rejects. A pending snapshot keeps the event loop alive.
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

/** What the channels `boxoffice:...` of node:diagnostics_channel tell. See docs/diagnostics.md. */
export interface LockEvent {
  kind: LockReport['kind']
  name?: string
  key?: Key
  scope: LockReport['scope']
  mode?: HoldMode
  /** Of a semaphore. */
  weight?: number
  /** The thread that it happened in. */
  thread: number
  /** `boxoffice:admit`, `:abort` and `:timeout`: how many milliseconds were waited. */
  waited?: number
  /**
   * Stands for one wait, and is good for a WeakMap: the same object in `boxoffice:wait`, which is told in the async context
   * of the caller, and in the event that ends the wait. None, where nothing was waited for.
   */
  wait?: object
  /** `boxoffice:release`: for how many milliseconds it was held. */
  held?: number
  /** `boxoffice:abort`: what the acquire rejects with. `boxoffice:deadlock`: the error, with its `cycle`. */
  reason?: unknown
}
