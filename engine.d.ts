import type { Engine as Contract, EngineOptions } from './index.js'

export interface EngineRequest {
  session: string
  key: string
  id: string
  units: number
  capacity: number
  wait: boolean
  claim: number
  maxHold: number
}

export type EngineAnswer =
  | { state: 'held'; token: bigint; wanted: boolean; abandoned: boolean }
  | { state: 'waiting'; look: number; clock?: number }
  | { state: 'refused' }
  | { state: 'lost' }
  | { state: 'mismatch'; capacity: number }

export interface EngineGrant {
  token: bigint
  wanted: boolean
  abandoned: boolean
  until: number
}

export interface EngineHearing {
  granted(id: string, grant?: EngineGrant): void
  wanted(key: string): void
  missed(): void
}

/** What is peculiar to one server. All of it is explained at the top of lib/engines/engine.js. */
export interface EngineDriver {
  readonly name: string
  readonly keeper: { module: string; data: unknown }
  listen(session: string, hear: EngineHearing): Promise<void>
  enter(request: EngineRequest): Promise<EngineAnswer>
  /** Not needed by a driver whose `granted()` says no more than the id. */
  confirm?(request: EngineRequest): Promise<{ state: 'held' | 'over'; wanted: boolean }>
  leave(request: EngineRequest): Promise<void>
  end(session: string): Promise<unknown>
  close(): Promise<unknown>
}

/**
 * An engine of any kind: the constructors of locks take it.
 *
 * @throws {TypeError} when the driver lacks a method, or an option is of the wrong type.
 * @throws {RangeError} when an option is out of its range.
 *
 * @example
 * const engine = new Engine(driver, { ttl: 5000 })
 * const mutex = new Mutex({ engine, name: 'orders' })
 */
export class Engine implements Contract {
  constructor(driver: EngineDriver, options?: EngineOptions)
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
