import type { SyncWaitOptions, WaitOptions } from '../core/options.js'
import type { BufferOptions, LockOptions } from '../lock_options.js'

/** How to wait where there is nobody to go before: all go together. */
export type GateWaitOptions = Omit<WaitOptions, 'priority'>

/** The same where the wait blocks the thread. */
export type GateSyncWaitOptions = Omit<SyncWaitOptions, 'priority'>

export interface GateOptions extends LockOptions, BufferOptions {}
