import type { EngineChoice } from '../cluster/options.js'
import type { DiagnosticsOptions } from '../diagnostics/options.js'
import type { KeyedHostOptions } from '../host/options.js'
import type {
  CancelOptions,
  HoldOptions,
  LockOptions,
  MaxHoldOptions,
  WaitDefaults,
} from '../lock_options.js'

/** Keys of different types are different keys: 1 is not '1'. NaN is none. */
export type Key = string | number | bigint

export interface KeyedOptions
  extends LockOptions,
    WaitDefaults,
    MaxHoldOptions,
    CancelOptions,
    KeyedHostOptions,
    EngineChoice,
    DiagnosticsOptions {}

export interface KeyedMutexOptions extends KeyedOptions, HoldOptions {}
