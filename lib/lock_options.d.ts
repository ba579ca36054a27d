import type { WaitOptions } from './core/options.js'

/** Who shares a lock, and how it behaves. All threads must construct it alike. */
export interface LockOptions {
  /**
   * All threads of the process that construct a lock of this kind with this name have one lock. (A
   * KeyedMutex of that name is another kind.) It lives as long as an object for it does, somewhere, and
   * longer while it is not as it was at first; the name of a keyed map, as long as a thread that has used it.
   */
  name?: string

  /**
   * `'bounded'`: while others wait, a thread may go on with its own next waiter for 1 ms at most, or take the lock
   * again before the next waiter of another thread has woken up. A waiter that is awake and has been overtaken for
   * 1 ms gets the lock next. Handing over to another thread costs a thousand times as much as going on. `'fifo'`:
   * never; strictly first come, first served, for waiters of an object with this option. Within a thread it always
   * is.
   *
   * @default 'bounded'
   */
  fairness?: 'bounded' | 'fifo'

  /**
   * Let the methods whose names end in `Sync` block the main thread. While it blocks, no promise, timer or
   * connection of that thread gets on.
   *
   * @default false
   */
  allowBlockingMainThread?: boolean
}

export interface BufferOptions {
  /**
   * Where the lock lies, instead of a name: all threads that construct it in the same place of the same
   * buffer share it.
   */
  buffer?: SharedArrayBuffer

  /**
   * Where in `buffer` it begins, in bytes: a multiple of 4. A Mutex, a RecursiveMutex, an RWLock and a
   * ConditionVariable take 4 bytes, all others 8. They must be 0 before the first is constructed there, and no
   * other lock may lie there.
   *
   * @default 0
   */
  byteOffset?: number

  /**
   * The lock lies in shared memory of its own from the start: its `buffer`, which other threads construct it with.
   * A lock with none of `name`, `buffer` and `shared` is of one thread and has no `buffer`.
   *
   * @default false
   */
  shared?: boolean
}

export interface CancelOptions {
  /** What `cancel()` rejects with, unless it is given a reason. @default E_CANCELED */
  cancelError?: unknown
}

export interface MaxHoldOptions {
  /**
   * The longest time in milliseconds that one hold lasts, from 100 to 2^31 - 1, or Infinity: for locks over an engine,
   * in place of the engine's own `maxHold`, and for a Mutex or KeyedMutex of scope `'host'`. A hold that lasts longer ends:
   * its `signal` aborts with `ERR_LOCK_LOST`, then the next waiter gets the lock, and its grant is `abandoned`. The callback
   * goes on until it heeds the signal.
   *
   * Infinity: the hold lasts until it is released, or the session of its thread (scope `'host'`: its thread) ends.
   */
  maxHold?: number
}

export interface HoldOptions extends MaxHoldOptions {
  /**
   * The time in milliseconds after a grant in which no other caller gets the lock, from 0 to 2^31 - 1, and not more than
   * `maxHold`: over an engine, or of scope `'host'`. It holds if the holder has released the lock before, and if it has died. So of many
   * processes that start a job at about the same time, one runs it: docs/recipes/cron.md. All must construct the lock
   * with the same `minHold`.
   *
   * @default 0
   */
  minHold?: number
}

/** What holds for all waits of an object, and what each wait may say otherwise. An upgrade takes neither. */
export interface WaitDefaults {
  /** The longest wait in milliseconds: see {@link WaitOptions.timeout}. @default Infinity */
  timeout?: number
  /**
   * The most callers of this thread that may wait (of a keyed lock: for each key). One more rejects with
   * `ERR_LOCK_QUEUE_FULL`: better a quick error than a queue that no caller outlives.
   *
   * @default Infinity
   */
  maxPending?: number
}
