import type { Engine } from '../cluster/options.js'
import type { HostScope, KeyedHostScope, KeyedProcessScope, ProcessScope } from '../host/options.js'

/** Options of other scopes. */
type None<Name extends string> = { [Option in Name]?: undefined }

type Memory = 'buffer' | 'byteOffset' | 'shared'
type Times = 'maxHold' | 'minHold'

interface Named {
  name: string
}

interface OverEngine extends None<'scope' | 'directory' | Memory> {
  /** Extends the lock to every process that uses the engine's server. */
  engine: Engine | undefined
}

/**
 * `Options` of a lock, as far as they go together: in this process, at scope `'host'` with a `name`, or over an `engine`
 * with a `name`. No lock over an engine has an option of these `Others`.
 */
export type InScope<Options, Others extends string = never> = Options &
  (
    | (ProcessScope & None<'engine' | Times>)
    | (HostScope & Named & None<'engine' | Memory>)
    | (OverEngine & Named & None<Others>)
  )

/** The same for an event, a latch, a barrier or a condition, which no engine has, and which no caller holds. */
export type InLocalScope<Options> = Options & (ProcessScope | (HostScope & Named & None<Memory>))

/** The same for a keyed lock, which has no memory, and whose keys are names enough over an engine. */
export type InKeyedScope<Options, Others extends string = never> = Options &
  (
    | (KeyedProcessScope & None<'engine' | Times>)
    | (KeyedHostScope & Named & None<'engine'>)
    | (OverEngine & None<'capacity' | Others>)
  )

/** The same for a leader election, which names its scope. */
export type InWideScope<Options> = Options &
  (
    | (ProcessScope & { scope: 'process' } & None<'engine' | Times>)
    | (HostScope & None<'engine'>)
    | OverEngine
  )
