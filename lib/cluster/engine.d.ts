/// <reference path="../core/disposable.d.ts" />

/**
 * Locks of several machines over a server of your choice, by a driver that you write.
 *
 * @module boxoffice/engine
 */

import type { Engine as Contract, EngineOptions, ReadyOptions } from './options.js'

/** A request of an engine to a server. All times are integers, in milliseconds. */
export interface EngineRequest {
  /** The session that asks: the argument of `listen()`. */
  session: string
  /** The key to lock: any string. */
  key: string
  /** The session, `-`, and a number. A command with the same id repeats the request, which is granted once. */
  id: string
  /** The number of units to grant, all at once: from 1 to `capacity`. */
  units: number
  /** The number of units of the key. */
  capacity: number
  /** Whether the request joins the queue when it cannot be granted at once. */
  wait: boolean
  /**
   * Whether the request joins the queue at its head. This is the upgrade of a reader, which holds one unit by another
   * request and asks for all other units. No other request asks for that many units.
   */
  first: boolean
  /** How long a waiter has to confirm a grant that a releasing holder has handed to it, in milliseconds. */
  claim: number
  /** The longest hold, counted from an immediate grant or from the confirmation. */
  maxHold: number
  /**
   * How long after this grant the server grants no other request, even if the holder has released or its session is
   * over. 0 if the lock has no `minHold`, and always 0 for a driver without `keepsMinHold`. Never more than `maxHold`.
   */
  minHold: number
}

/** A request that leaves: a release, or the end of a wait. Other properties of the request may be present, too. */
export interface EngineLeaving
  extends Pick<
    EngineRequest,
    'session' | 'key' | 'id' | 'units' | 'capacity' | 'claim' | 'minHold'
  > {
  /**
   * The number of units that the request still holds afterwards: 0 for none. The driver must never raise the number of
   * held units, because two calls may be executed in another order than they were sent in.
   */
  keep: number
  /** Whether the grant was `abandoned`, and no caller was told. Then the next grant of the key must be `abandoned`. */
  untold: boolean
  /** Whether no caller used the grant. Then the next request need not wait until the `minHold` is over. */
  unused: boolean
}

export type EngineAnswer =
  /**
   * The request holds the units. `token` is larger than every earlier token of the key, and less than 2 ** 51.
   * `wanted`: other requests are in the queue. `abandoned`: an earlier holder ended without a release, and no caller
   * has been told yet.
   */
  | { state: 'held'; token: bigint; wanted: boolean; abandoned: boolean }
  /**
   * The request is in the queue. The engine asks again after `look` milliseconds, when the requests ahead may have
   * expired without a message. `clock` is the server's clock, in milliseconds since any epoch; `until` of a grant
   * refers to it. `reason`, here and below, says why the server grants no locks at all now. The error of a caller that
   * times out ends with this text.
   */
  | { state: 'waiting'; look: number; clock?: number | undefined; reason?: string | undefined }
  /** The request is not granted, and not in the queue: only when `wait` is false. */
  | { state: 'refused'; reason?: string | undefined }
  /** Another upgrade is in the queue, and the two would deadlock: only when `first` is true. */
  | { state: 'upgrading' }
  /** The session is over. */
  | { state: 'lost' }
  /** The key is in use with another capacity. */
  | { state: 'mismatch'; capacity: number }

/** The message to a waiter to which a releasing holder has handed the units. */
export interface EngineGrant {
  /** `token`, `wanted` and `abandoned` are as in an answer of state `held`. */
  token: bigint
  wanted: boolean
  abandoned: boolean
  /** The end of the claim, on the clock of `clock`, in milliseconds. */
  until: number
}

/**
 * The functions that a driver calls when the server sends a message. They never throw, and accept messages in any
 * order.
 */
export interface EngineListener {
  /**
   * The request has been granted. With `grant` its caller holds the lock at once, while the engine confirms the grant.
   * Leave `grant` out if a command could not be sent before the next `setImmediate()`, for instance without a
   * connection. Then the engine calls `enter()` to get the grant.
   */
  granted(id: string, grant?: EngineGrant): void
  /** A request waits for a key of which the session holds units. One call per queue is enough. */
  wanted(key: string): void
  /** Messages may have been lost, and arrive again from now on. */
  missed(): void
  /**
   * A command has left the driver's queue, and has been sent. That shows that the server answers, so `answerTimeout`
   * starts anew for requests without an answer. Only drivers that queue commands, for instance when all of their
   * connections are busy, call it.
   */
  moved(): void
  /**
   * The listening connection has ended or cannot be made, and the driver tries again. A caller that times out meanwhile
   * gets the error as `cause`, and a request in the queue rejects with it after `answerTimeout`. Call it with undefined
   * when the driver listens again.
   */
  trouble(error: Error | undefined): void
}

/** Renews a session, in a separate thread. */
export interface EngineKeeper {
  /** Creates the session, for `ttl` milliseconds from now on. An error of this call rejects `engine.ready()`. */
  open(session: string, ttl: number): Promise<unknown>
  /**
   * Extends the session to `ttl` milliseconds from now on. Resolves to false when the session is over, and never
   * revives it.
   */
  renew(session: string, ttl: number): Promise<boolean>
  /**
   * Confirms a grant, as `confirm()` of the driver does. Optional. With it, a caller that releases soon after its grant
   * needs no confirmation, and the event loop sends one only if this thread has no answer in time.
   */
  confirm?(request: EngineRequest): Promise<EngineConfirmation>
  close(): Promise<unknown>
}

/** The answer to a confirmation. `wanted`: other requests are in the queue. */
export interface EngineConfirmation {
  state: 'held' | 'over'
  wanted: boolean
}

/**
 * The part of an engine that differs between servers: see docs/engine-driver.md, and the rules at the top of
 * lib/cluster/engine.js. The server may or may not have executed a command that rejects. The engine repeats the command
 * until the session is over, or the caller has timed out or been aborted. Only an error whose `code` begins with
 * `ERR_LOCK_` is final: callers get it as it is. Commands take no `signal`: for an aborted caller the engine calls
 * `leave()`.
 */
export interface EngineDriver {
  /** The server's name in messages: `'Redis'`. */
  readonly name: string
  /** Whether the driver supports `minHold`. If not, constructors with a `minHold` throw `ERR_LOCK_UNSUPPORTED`. */
  readonly keepsMinHold?: boolean | undefined
  /**
   * Whether the server may lose commands that it has answered, for instance in a failover to an asynchronous replica. If
   * so, the engine repeats its last releases when the driver has called `missed()`.
   */
  readonly mayForget?: boolean | undefined
  /**
   * How the renewing thread connects: it calls `require(module).connect(data, trouble)`, which returns a promise for an
   * EngineKeeper. The thread gets `data` by structured clone. A connection that retries without rejecting a command
   * calls `trouble(error)`, and `trouble(undefined)` when it is connected again, as in {@link EngineListener}.
   */
  readonly keeper: { module: string; data: unknown }
  /**
   * Listens to the messages for `session`, and no longer to those for an earlier session. Resolves when no later
   * message can be missed. Must not keep the process alive.
   */
  listen(session: string, listener: EngineListener): Promise<void>
  /**
   * Creates the session as the keeper's `open()` does, by the driver's own connections. Optional. With it, the first
   * lock need not wait until the renewing thread has started, loaded its client and connected. The thread does that
   * some time before the first renewal, so a program that ends soon never pays for it. The engine calls it after
   * `listen()`. It needs its own time limit: until it settles, callers learn only after 30 s that the server does not
   * answer.
   */
  open?(session: string, ttl: number): Promise<unknown>
  /** Asks for units, confirms a grant, or renews the place in the queue, in one round trip. */
  enter(request: EngineRequest): Promise<EngineAnswer>
  /**
   * Confirms a grant in one round trip: the request holds the units for `maxHold` from now on. If the claim is over,
   * the request holds nothing and is not in the queue. A driver that never passes a `grant` to `granted()` does not
   * need it.
   */
  confirm?(request: EngineRequest): Promise<EngineConfirmation>
  /** Releases the units, or leaves the queue, in one round trip. Idempotent. */
  leave(request: EngineLeaving): Promise<void>
  /**
   * Forgets what the driver keeps here for a request that is over without `leave()`: its hold has ended by itself.
   * Optional, and must not throw.
   */
  forget?(request: Pick<EngineRequest, 'key' | 'id'>): void
  /** Ends the session, and releases all its units. */
  end(session: string): Promise<unknown>
  /** Closes the connections that the driver has made. */
  close(): Promise<unknown>
}

/**
 * An engine with a driver of your own, for the constructors of locks.
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
  ready(options?: ReadyOptions): Promise<void>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
