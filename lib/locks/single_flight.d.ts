import type { Key } from '../core/keys.js'

/** How long a caller of {@link SingleFlight.do} waits. */
export interface SingleFlightOptions {
  /**
   * The longest wait in ms. After it the call rejects with `ERR_LOCK_TIMEOUT`. With 0 it rejects at once.
   *
   * @default no limit
   */
  timeout?: number | undefined
  /** Ends the wait when it aborts: the call rejects with `signal.reason`. */
  signal?: AbortSignal | undefined
}

/**
 * Lets concurrent calls for one key share one execution and its result or error, as Go's `singleflight` does. It
 * prevents cache stampedes: a hundred requests that miss the same cache entry load it once. It works within one thread.
 * It caches nothing: the next call after the execution has settled begins a new one.
 *
 * @example
 * const flight = new SingleFlight()
 * const load = (id) => flight.do(id, (signal) => query(id, { signal }))
 * const [ada, same] = await Promise.all([load('ada'), load('ada')])
 * assert.equal(ada, same)
 */
export class SingleFlight {
  /**
   * Takes no options: functions and results stay in their thread.
   *
   * @throws {Error} `ERR_LOCK_UNSUPPORTED` for a `name`, a `scope` or an `engine`; the message says what to use.
   * @throws {TypeError} for any other option.
   */
  constructor()

  /**
   * Calls `work` unless an execution of `key` is under way, and resolves to that execution's result. `work` is never
   * called before `do` has returned, and runs in the async context of the caller that began it.
   *
   * A caller that times out or is aborted leaves the execution to the others. When the last caller has left, the signal
   * of `work` aborts with that caller's reason, and the next call of `do` begins a new execution.
   *
   * Do not await a `do` of the same key inside `work`: that deadlocks.
   *
   * @param work When it fails, every waiting caller is rejected with the same error object.
   * @returns a promise that rejects with `ERR_LOCK_TIMEOUT` when `timeout` ms have passed, with `signal.reason` on
   * abort, and with a TypeError or RangeError when an argument is invalid.
   */
  do<T>(
    key: Key,
    work: (signal: AbortSignal) => Promise<T> | T,
    options?: SingleFlightOptions,
  ): Promise<T>

  /**
   * Makes the next `do` of `key` begin a new execution, for instance after the entry has changed. Callers that already
   * wait get the result of the old one. Returns whether an execution was under way.
   */
  forget(key: Key): boolean

  /** The number of keys with an execution that the next `do` would join. */
  readonly size: number
}
