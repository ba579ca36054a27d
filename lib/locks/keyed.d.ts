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

export interface KeyedMutexOptions extends KeyedOptions {}
