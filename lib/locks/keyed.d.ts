import type { Key } from '../core/keys.js'
import type { DiagnosticsOptions } from '../diagnostics/options.js'
import type {
  CancelOptions,
  HoldOptions,
  LockOptions,
  WaitDefaults,
} from '../options/lock_options.js'
import type { InKeyedScope } from '../options/scope_options.js'

/**
 * Stands for a long key in `keys()` and `snapshot()` of a keyed lock of scope `'host'`: a key of about 40 characters or
 * more that only other threads or processes hold or wait for. This thread knows only the beginning of the key. A CutKey
 * is not a {@link Key}: methods throw a TypeError for it. Only `cancel()` takes it, and does nothing, because no caller
 * of this thread waits for the key.
 */
export interface CutKey {
  /** The type of the key. */
  readonly type: 'string' | 'number' | 'bigint'
  /** The first characters of the key, or of a bigint's decimal digits. */
  readonly beginning: string
  /** The beginning, and an ellipsis. */
  toString(): string
}

export interface KeyedSettings
  extends LockOptions,
    WaitDefaults,
    HoldOptions,
    CancelOptions,
    DiagnosticsOptions {}

/** The options of keyed locks. Without a `name` or an `engine` a keyed lock belongs to one thread. */
export type KeyedOptions = InKeyedScope<KeyedSettings, 'minHold'>

export interface KeyedMutexSettings extends KeyedSettings {
  /**
   * Lets the chain of calls that holds a key enter it again, by the methods that take a callback: `runExclusive`,
   * `executeLocked`, `tryRunExclusive` and `runExclusiveSync`. Each key follows the rules of a {@link RecursiveMutex}:
   * calls that a callback starts are nested in its hold, and nested calls that run side by side take turns. If
   * `release(key)` or `maxHold` ends the hold before its callback, calls from inside queue as all others do.
   *
   * The other methods cannot mark their caller as the holder: from inside a hold of the key, `acquire()`, `lock()` and
   * `waitForUnlock()` reject with `ERR_LOCK_DEADLOCK`. Two chains that acquire two keys one after the other, in
   * different orders, still deadlock: acquire both keys in one call.
   *
   * A derived class that overrides `acquire()` cannot be reentrant: the constructor throws a TypeError.
   *
   * Objects of one name may differ in this option, and still exclude each other. In `boxoffice/local` the constructor
   * throws `ERR_LOCK_UNSUPPORTED`.
   *
   * @default false
   */
  reentrant?: boolean | undefined
}

export type KeyedMutexOptions = InKeyedScope<KeyedMutexSettings>
