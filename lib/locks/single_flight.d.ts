import type { Key } from './keyed.js'

/** How long a caller of {@link SingleFlight.do} waits. */
export interface SingleFlightOptions {
  /** The longest wait in ms. When it has passed, this caller rejects with `ERR_LOCK_TIMEOUT`. 0 rejects at once. */
  timeout?: number
  /** Ends the wait of this caller, which rejects with `signal.reason`. */
  signal?: AbortSignal
}

/**
 * Concurrent calls for one key share one execution and its result or error, as Go's `singleflight` does. It prevents
 * cache stampedes: a hundred requests that miss the same cache entry load it once. Of one thread. It caches nothing:
 * the next call after the execution has settled begins a new one.
 *
 * @example
 * const flight = new SingleFlight()
 * const load = (id) => flight.do(id, (signal) => query(id, { signal }))
 * const [ada, same] = await Promise.all([load('ada'), load('ada')])
 * assert.equal(ada, same)
 */
export class SingleFlight {
  /**
   * It takes no options: functions and results stay in their thread. With a `name`, a `scope` or an `engine` it throws
   * `ERR_LOCK_UNSUPPORTED`, and says what to use.
   */
  constructor()

  /**
   * Calls `work` unless an execution of `key` is under way, and resolves to that execution's result. `work` is never
   * called before `do` has returned, and runs in the async context of the caller that began it.
   *
   * A caller that gives up leaves the execution to the others. When the last caller gives up, `work`'s signal aborts
   * with that caller's reason, and the next call of `do` begins a new execution.
   *
   * Do not call `do` with the same key inside `work` and await it: `work` would wait for itself.
   *
   * @param work Its errors reject every caller that waits, with the same error object.
   * @returns a promise that rejects with `ERR_LOCK_TIMEOUT` or `signal.reason` when this caller gives up, and with a
   * TypeError or RangeError when an argument is invalid.
   */
  do<T>(
    key: Key,
    work: (signal: AbortSignal) => Promise<T> | T,
    options?: SingleFlightOptions,
  ): Promise<T>

  /**
   * Makes the next `do` of `key` begin an execution of its own, for instance after the entry has changed. Callers that
   * wait already keep theirs. Says whether there was an execution under way.
   */
  forget(key: Key): boolean

  /** How many keys have an execution that the next `do` would join. */
  readonly size: number
}
