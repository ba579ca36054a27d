/// <reference path="../core/disposable.d.ts" />
import type { Releaser } from '../core/releaser.js'
import type { DiagnosticsOptions } from '../diagnostics/options.js'
import type { MaxHoldOptions } from '../options/lock_options.js'
import type { InWideScope } from '../options/scope_options.js'
import type { Mutex } from './mutex.js'

export interface LeaderElectionSettings extends MaxHoldOptions, DiagnosticsOptions {
  /** All candidates of one election have the same name. A Mutex of that name is a different lock. */
  name: string
}

/**
 * A scope is required: `scope: 'host'` for this user's processes on this machine, an `engine` for several machines, or
 * `scope: 'process'` for the threads of this process. A term ends after `maxHold` ms. The default is 60 s over an
 * engine: use Infinity for a leader that stays. At scope `'host'` a term has no end by default.
 */
export type LeaderElectionOptions = InWideScope<LeaderElectionSettings>

export interface LeadOptions {
  /** Ends the wait and the term: see {@link LeaderElection.lead}. */
  signal?: AbortSignal | undefined
}

/** One term of leadership. */
export interface LeaderTerm {
  /**
   * The number of this term, larger than that of every term before it: see {@link Releaser.fencingToken}. Undefined in
   * scope `'process'`.
   */
  readonly fencingToken?: bigint | undefined
  /** Whether the last leader died, or lost its lease: then check the state that it left. */
  readonly abandoned: boolean
}

/**
 * Elects one leader among all processes that construct a LeaderElection of the same name in the same scope. The others
 * wait in a queue, and lead in turn. See docs/recipes/leader.md.
 *
 * A leader that ends cleanly hands over at once. After a leader is killed, the next term begins as soon as the scope
 * detects the death: at once at scope `'host'`, within `ttl` over an engine.
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
   * Makes a candidate, which takes part when {@link LeaderElection.lead} is called.
   *
   * @throws {TypeError} when neither `scope` nor `engine` is given, or an option is of the wrong type.
   * @throws {RangeError} when `name` is empty.
   * @throws {Error} the errors of the constructor of a {@link Mutex} of that scope.
   */
  constructor(options: LeaderElectionOptions)

  /**
   * Waits until this process leads, and then runs `callback`. Each call of `lead()` is a candidate of its own.
   *
   * `signal` is aborted when the callback has to stop:
   *
   * - with an error of code `ERR_LOCK_LOST` when the term is lost, because `maxHold` is over or the engine lost the lease.
   *   Another process may lead after the abort, even if the callback has not ended. Another call in this thread may, too,
   *   if there is a `maxHold`; otherwise it waits for the callback to end;
   * - with the reason of `options.signal`, or with `ERR_LOCK_CLOSED` on {@link LeaderElection.close}. The next term begins
   *   when the callback has ended, or when the term is lost. The signal, already aborted, does not report that loss.
   *
   * This call of `lead()` never runs the callback again before it has ended.
   *
   * The end of the callback decides what follows:
   *
   * - It returns while it leads: this process resigns, and `lead()` resolves to the callback's result.
   * - It throws: this process resigns, and `lead()` rejects with the callback's error.
   * - The term was lost: the result is dropped, this process waits to lead again, and then the callback runs again.
   * - `options.signal` or `close()` has told it to stop: this process resigns, and `lead()` resolves to the callback's
   *   result.
   *
   * Once the signal has aborted, the callback may stop by throwing an `AbortError`, the signal's reason, or an error
   * with that reason as its `cause`. Every other error rejects `lead()`.
   *
   * When `options.signal` or `close()` ends the wait for leadership, `lead()` resolves to undefined, because that is
   * not a failure.
   *
   * Waiting to lead keeps the process alive while another process leads. Leading does not: the callback's timers and
   * connections do. A process that ends while it leads counts as dead, whatever its exit code.
   *
   * If the server of an engine stops answering, `lead()` warns with the code `BOXOFFICE_ELECTION_UNANSWERED` and asks
   * again.
   *
   * @returns a promise that rejects with the callback's error, with a TypeError when an argument is invalid, with
   * `ERR_LOCK_CLOSED` after `close()`, with `ERR_LOCK_ENGINE` when the engine has been closed, and with other errors of
   * {@link Mutex.acquire} that a new attempt does not cure.
   */
  lead<T>(
    callback: (signal: AbortSignal, term: LeaderTerm) => Promise<T> | T,
    options?: LeadOptions,
  ): Promise<T | undefined>

  /** Whether a callback of this object runs as the leader and has not been told to stop. */
  readonly isLeader: boolean

  /**
   * Returns the id of the process that leads at this moment, or undefined if none does. Any process that constructs the
   * election may call this, a candidate or not. The process may just have ended.
   *
   * @throws {Error} `ERR_LOCK_UNSUPPORTED` in every scope but `'host'`.
   */
  leader(): number | undefined

  /**
   * Aborts the signals of running callbacks, and ends every wait for leadership. Resolves when the callbacks have ended
   * and this process has resigned: do not await it in a callback, which would deadlock. Over an engine it resolves when
   * the server knows that the term has ended, so that the process may end. If the server does not answer in time, it
   * rejects with `ERR_LOCK_ENGINE`. Idempotent.
   */
  close(): Promise<void>

  /** {@link LeaderElection.close} */
  [Symbol.asyncDispose](): Promise<void>
}
