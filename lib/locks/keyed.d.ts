import type { EngineChoice } from '../cluster/options.js'
import type { DiagnosticsOptions } from '../diagnostics/options.js'
import type { KeyedHostOptions } from '../host/options.js'
import type { CancelOptions, HoldOptions, LockOptions, WaitDefaults } from './lock_options.js'

/** The key of a keyed lock. Keys of different types are different keys: 1 is not '1'. NaN is invalid. */
export type Key = string | number | bigint

export interface KeyedOptions
  extends LockOptions,
    WaitDefaults,
    HoldOptions,
    CancelOptions,
    KeyedHostOptions,
    EngineChoice,
    DiagnosticsOptions {}

export interface KeyedMutexOptions extends KeyedOptions {}
