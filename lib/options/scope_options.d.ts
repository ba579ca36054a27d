import type { Engine } from '../cluster/options.js'
import type { HostScope, KeyedHostScope, KeyedProcessScope, ProcessScope } from '../host/options.js'

/** Excludes options that belong to other scopes. */
type None<Name extends string> = { [Option in Name]?: undefined }

interface NoMemory extends None<'buffer' | 'byteOffset'> {
  shared?: false | undefined
}

type HoldTimes = 'maxHold' | 'minHold'

interface Named {
  /** Not a label: all objects of one class, scope and name are one lock. */
  name: string
}

// Has no `scope`. With one, options whose scope is known only at run time would fit no type.
interface OverEngine extends NoMemory, None<'directory'> {
  /** Extends the lock to every process that uses the engine's server. */
  engine: Engine | undefined
}

/**
 * The `Options` of a lock, with the options of its scope. A lock is in this process, or at scope `'host'` with a
 * `name`, or over an `engine` with a `name`. `Others` are the options that no lock over an engine has.
 */
export type InScope<Options, Others extends string = never> = Options &
  (
    | (ProcessScope & None<'engine' | HoldTimes>)
    | (HostScope & Named & NoMemory & None<'engine'>)
    | (OverEngine & Named & None<Others>)
  )

/** The same for an event, latch, barrier or condition variable. Engines lack these classes, and they have no hold times. */
export type InLocalScope<Options> = Options & (ProcessScope | (HostScope & Named & NoMemory))

/** The same for a keyed lock. It has no `buffer`, and over an engine it needs no `name`. */
export type InKeyedScope<Options, Others extends string = never> = Options &
  (
    | (KeyedProcessScope & None<'engine' | HoldTimes>)
    | (KeyedHostScope & Named & None<'engine'>)
    | (OverEngine & None<'capacity' | Others>)
  )

/** The same for a leader election, which names its scope. */
export type InWideScope<Options> = Options &
  (
    | (ProcessScope & { scope: 'process' } & None<'engine' | HoldTimes>)
    | (HostScope & None<'engine'>)
    | OverEngine
  )
