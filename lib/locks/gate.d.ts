import type { SyncWaitOptions, WaitOptions } from '../core/options.js'
import type { BufferOptions, LockOptions } from '../options/lock_options.js'
import type { InLocalScope } from '../options/scope_options.js'

/** How to wait for a barrier or latch. There is no `priority`: all waiters are admitted together. */
export type GateWaitOptions = Omit<WaitOptions, 'priority'>

/** {@link GateWaitOptions} for waits that block the thread. */
export type GateSyncWaitOptions = Omit<SyncWaitOptions, 'priority'>

export interface GateSettings extends LockOptions, BufferOptions {}

export type GateOptions = InLocalScope<GateSettings>
