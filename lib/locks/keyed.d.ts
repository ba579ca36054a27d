import type { EngineChoice } from '../cluster/options.js'
import type { DiagnosticsOptions } from '../diagnostics/options.js'
import type { KeyedHostOptions } from '../host/options.js'
import type { CancelOptions, HoldOptions, LockOptions, WaitDefaults } from './lock_options.js'

/** The key of a keyed lock. Keys of different types are different keys: 1 is not '1'. NaN is invalid. */
export type Key = string | number | bigint

/**
 * In the listings of keyed locks of scope host: a long key, of about 40 characters or more, that only other threads or
 * processes hold or wait for. No more than its beginning is known here. It is no {@link Key}: methods refuse it with a
 * TypeError, except `cancel()`, as no caller of this thread waits for it.
 */
export interface CutKey {
  /** The type of the key. */
  readonly type: 'string' | 'number' | 'bigint'
  /** The first characters of the key, or of a bigint's decimal digits. */
  readonly beginning: string
  /** The beginning, and an ellipsis. */
  toString(): string
}

export interface KeyedOptions
  extends LockOptions,
    WaitDefaults,
    HoldOptions,
    CancelOptions,
    KeyedHostOptions,
    EngineChoice,
    DiagnosticsOptions {}

export interface KeyedMutexOptions extends KeyedOptions {
  /**
   * Lets the chain of calls that holds a key enter it again, by the methods that take a callback: `runExclusive`,
   * `executeLocked`, `tryRunExclusive` and `runExclusiveSync`. Their rules are those of a {@link RecursiveMutex}, for
   * each key: calls that a callback starts are nested in its hold, and nested calls that run side by side take turns.
   * When `release(key)` or `maxHold` has ended the hold before its callback, calls from inside queue as all others do.
   *
   * The other forms cannot mark their caller as the holder. From inside a hold of the key `acquire()`, `lock()` and
   * `waitForUnlock()` reject with `ERR_LOCK_DEADLOCK`. A key that a chain acquires while it holds another one is a second
   * wait: two chains that take two keys in different orders wait for each other.
   *
   * A derived class that overrides `acquire()` cannot be reentrant, and throws a TypeError.
   *
   * The option is that of each object: with and without it objects of one name exclude each other.
   *
   * @default false
   */
  reentrant?: boolean
}
