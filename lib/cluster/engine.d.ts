/// <reference path="../core/disposable.d.ts" />
import type { Engine as Contract, EngineOptions } from './options.js'

/** What an engine asks a server for. All times are in milliseconds, and whole. */
export interface EngineRequest {
  /** Whose it is: as it was given to `listen()`. */
  session: string
  /** What is to be locked. Any string. */
  key: string
  /** The session's, `-`, and a number. The same id again is the same request, which is granted once. */
  id: string
  /** How many units it is to get, from 1 to `capacity`: all of them at once. */
  units: number
  /** How many units the key has. */
  capacity: number
  /** Whether it is to get a place in the queue where it cannot be granted at once. */
  wait: boolean
  /**
   * Whether that is the first place: of a reader that upgrades, which holds one unit by another request, and asks for all
   * others. No other request asks for as many.
   */
  first: boolean
  /** How long a waiter has to confirm what a holder that left has handed over to it. */
  claim: number
  /** How long it is held at most, from when it was granted at once, or was confirmed. */
  maxHold: number
  /**
   * How long after this request is granted no other one is let in, even if it has left or its session is over by then: 0
   * where the lock has no `minHold`, and always 0 for a driver without `keepsMinHold`. Never more than `maxHold`.
   */
  minHold: number
}

/** What is given back. The other properties of the request may be there as well. */
export interface EngineLeaving
  extends Pick<
    EngineRequest,
    'session' | 'key' | 'id' | 'units' | 'capacity' | 'claim' | 'minHold'
  > {
  /**
   * How many of the units stay held, where they are held: 0 for none. Never more than there are: two of these may be
   * carried out in another order than they were sent in.
   */
  keep: number
  /** No caller has heard of `abandoned`, if that was the answer: the next grant of the key says it again. */
  untold: boolean
  /** No caller has had what was granted: the next request need not wait for the end of `minHold`. */
  unused: boolean
}

export type EngineAnswer =
  /**
   * It has the units. `token` is higher than all before it for the key, and less than 2 ** 51. `wanted`: others are in
   * the queue. `abandoned`: a holder before it has not let go by itself, and no caller has been told of that yet.
   */
  | { state: 'held'; token: bigint; wanted: boolean; abandoned: boolean }
  /**
   * It has a place in the queue. In `look` milliseconds those before it may be gone without a word: it asks again then.
   * `clock` is what the clock of the server was, in milliseconds of whatever epoch: a grant goes by that.
   */
  | { state: 'waiting'; look: number; clock?: number }
  /** Not now, and it has no place: only where `wait` is false. */
  | { state: 'refused' }
  /** Another request in the queue asked to be the `first`, and each would wait for the other: only where `first` is true. */
  | { state: 'upgrading' }
  /** There is no such session any more. */
  | { state: 'lost' }
  /** The key is in use with another capacity. */
  | { state: 'mismatch'; capacity: number }

/** What a message says to the waiter that a holder has handed over to. */
export interface EngineGrant {
  /** As in an answer that says `held`. */
  token: bigint
  wanted: boolean
  abandoned: boolean
  /** When the claim ends, in milliseconds of the clock that `clock` told of. */
  until: number
}

/** What a driver calls when it hears from the server: none of it throws, and none of it need be in order. */
export interface EngineHearing {
  /**
   * The request has been granted. Where `grant` is given its caller goes in at once, and `confirm()` is called meanwhile:
   * so it must be left out where a command would not be on its way by the next `setImmediate()` (no connection is there,
   * say). Without it `enter()` is called.
   */
  granted(id: string, grant?: EngineGrant): void
  /** A request waits for a key of which the session holds units. Once is enough as long as there is a queue. */
  wanted(key: string): void
  /** Messages may have been lost, and come again from now on. */
  missed(): void
  /**
   * The connection that listens has ended or cannot be made, and is tried again: a caller that gives up gets the error as
   * `cause`, and a request in the queue is rejected with it after `answerTimeout`. With undefined: it has been made.
   */
  trouble(error: Error | undefined): void
}

/** What renews a session, in a thread of its own. */
export interface EngineKeeper {
  /** From now on there is this session, for `ttl` milliseconds. */
  open(session: string, ttl: number): Promise<unknown>
  /** For `ttl` milliseconds from now on; whether there still was this session. It is never brought back. */
  renew(session: string, ttl: number): Promise<boolean>
  close(): Promise<unknown>
}

/**
 * What is peculiar to one server: see docs/engines.md, and what must be true there at the top of lib/cluster/engine.js.
 * A command that rejects may have been carried out or not: it is repeated, until the session is over or the caller has
 * given up. Only an error whose `code` begins with `ERR_LOCK_` is final: callers get it as it is. No command hears of a
 * caller's `signal`: a caller that gives up leaves.
 */
export interface EngineDriver {
  /** For messages: `'Redis'`. */
  readonly name: string
  /** Whether it does what a `minHold` asks for. Else locks that have one throw `ERR_LOCK_UNSUPPORTED`. */
  readonly keepsMinHold?: boolean
  /**
   * What the thread renews with: it calls `require(module).connect(data, trouble)`, a promise for an EngineKeeper. `data`
   * goes there by structured clone. A connection that is tried again without rejecting anything says why by
   * `trouble(error)`, and `trouble(undefined)` when it has been made: as in {@link EngineHearing}.
   */
  readonly keeper: { module: string; data: unknown }
  /**
   * Hears what concerns `session`, and no other one any more. Resolves when nothing will be missed. Must not keep the
   * process alive.
   */
  listen(session: string, hear: EngineHearing): Promise<void>
  /** Asks for units, confirms what was granted, or looks after its place in the queue: one round trip. */
  enter(request: EngineRequest): Promise<EngineAnswer>
  /**
   * One round trip for a request that was granted, which has it for `maxHold` from now on, unless its claim is over: then it
   * gets nothing, nor a place. Not needed by a driver whose `granted()` says no more than the id.
   */
  confirm?(request: EngineRequest): Promise<{ state: 'held' | 'over'; wanted: boolean }>
  /** The units are free, or the place in the queue. Idempotent. One round trip. */
  leave(request: EngineLeaving): Promise<void>
  /** The session is over, and with it all that it holds. */
  end(session: string): Promise<unknown>
  /** Closes the connections that the driver has made. */
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
