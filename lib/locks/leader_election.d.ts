/// <reference path="../core/disposable.d.ts" />
import type { EngineChoice } from '../cluster/options.js'
import type { Releaser } from '../core/releaser.js'
import type { DiagnosticsOptions } from '../diagnostics/options.js'
import type { HostOptions } from '../host/options.js'
import type { MaxHoldOptions } from '../lock_options.js'
import type { Mutex } from './mutex.js'

/**
 * The scope must be given: `scope: 'host'` for the processes of this machine, or an `engine` for machines. `maxHold` is the
 * end of a term over an engine: Infinity for a leader that stays.
 */
export interface LeaderElectionOptions
  extends HostOptions,
    EngineChoice,
    MaxHoldOptions,
    DiagnosticsOptions {
  /** The candidates of one election have the same name. A lock of that name is another one. */
  name: string
}

export interface LeadOptions {
  /** Ends `lead()`: see {@link LeaderElection.lead}. */
  signal?: AbortSignal
}

/** One term of leadership. */
export interface LeaderTerm {
  /**
   * The number of this term, larger than that of every term before it: see {@link Releaser.fencingToken}. Store it with
   * what the leader writes, and refuse to write where a larger one is stored. None in scope `'process'`.
   */
  readonly fencingToken?: bigint
  /** The last leader died, or lost its lease: look at what it has left. */
  readonly abandoned: boolean
}

/**
 * Elects one process to lead, of all that construct a LeaderElection of the same name in the same scope. The others
 * wait in a queue, and lead in their turn. docs/recipes/leader.md has the whole story.
 *
 * A leader that ends cleanly hands over at once. A leader that is killed is followed as soon as the scope finds its
 * death: at once in scope `'host'`, within `ttl` over an engine.
 *
 * @example
 * const election = new LeaderElection({ scope: 'host', name: 'mail' })
 * const stop = new AbortController()
 * await election.lead(
 *   async (signal, { fencingToken }) => {
 *     while (!signal.aborted) {
 *       await store({ fence: fencingToken })
 *       stop.abort() // on SIGTERM, in a real program
 *     }
 *   },
 *   { signal: stop.signal },
 * )
 * await election.close()
 */
export class LeaderElection implements AsyncDisposable {
  /**
   * @throws {TypeError} when there is neither a `scope` nor an `engine`, or an option is of the wrong type.
   * @throws {RangeError} when `name` is empty.
   * @throws {Error} what the constructor of a {@link Mutex} of that scope throws.
   */
  constructor(options: LeaderElectionOptions)

  /**
   * Waits until this process leads, and then runs `callback`. Several calls of `lead()` are several candidates.
   *
   * `signal` is aborted when the callback has to stop: with an error of code `ERR_LOCK_LOST` when the lease of an engine
   * is lost, before the server can give it to another process; with the reason of `options.signal`; with
   * `ERR_LOCK_CLOSED` on {@link LeaderElection.close}. The next term, here or elsewhere, begins after that. In this
   * process it also waits until the callback has ended, however long it ignores its signal; so does the next leader, unless
   * the lease was lost.
   *
   * How it goes on depends on how the callback ends:
   *
   * - it returns while it leads: this process resigns, and `lead()` resolves to what the callback has returned.
   * - it throws: this process resigns, and `lead()` rejects with that.
   * - the lease was lost: what it returns is dropped, this process waits to lead again, and then the callback runs again.
   * - `options.signal` or `close()` has told it to stop: this process resigns, and `lead()` resolves to what the callback
   *   has returned.
   *
   * Once its signal is aborted, an `AbortError`, the signal's reason, and an error with that as its `cause` count as
   * stopping. Every other error rejects `lead()`.
   *
   * Where `options.signal` or `close()` ends the wait for leadership, `lead()` resolves to undefined: it runs until then,
   * so that this is no failure.
   *
   * A server that does not answer is asked again, after a warning of code `BOXOFFICE_ELECTION_UNANSWERED`.
   *
   * @throws {TypeError} when `callback` is no function, or an option is not what it should be.
   * @throws {Error} `ERR_LOCK_CLOSED` after `close()`; `ERR_LOCK_ENGINE` when the engine has been closed.
   */
  lead<T>(
    callback: (signal: AbortSignal, term: LeaderTerm) => Promise<T> | T,
    options?: LeadOptions,
  ): Promise<T | undefined>

  /** Whether a callback of this object leads, and has not been told to stop. */
  readonly isLeader: boolean

  /**
   * The id of the process that leads in this moment, or undefined: none does.
   *
   * @throws {Error} `ERR_LOCK_UNSUPPORTED` in other scopes than `'host'`.
   */
  leader(): number | undefined

  /**
   * Aborts the signals of the callbacks that run, and ends the other waits of `lead()`. Resolves when the callbacks have ended
   * and this process has resigned: do not await it in a callback. Idempotent.
   */
  close(): Promise<void>

  /** {@link LeaderElection.close} */
  [Symbol.asyncDispose](): Promise<void>
}
