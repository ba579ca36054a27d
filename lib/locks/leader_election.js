'use strict'
// Leader election over a mutex: the process that holds it leads.
const { abort, reasonOf, throwIfAborted } = require('../core/abort.js')
const { following } = require('../core/following.js')
const { lockError } = require('../core/errors.js')
const { nameOf } = require('../core/keys.js')
const { checkCallback, checkKnown, checkObject, isObject, readWait } = require('../core/options.js')
const { giveBackUndelivered } = require('../core/releaser.js')
const { warn } = require('../core/warn.js')
const { receiverError } = require('../core/receiver.js')
const { lockOf } = require('./base.js')
const { kind: mutexKind, Mutex } = require('./mutex.js')

const electionOptions = new Set([
  'name',
  'scope',
  'directory',
  'engine',
  'diagnostics',
  'warnAfter',
  'maxHold',
])
const leadOptions = new Set(['signal'])

/** The callback's view of its term. At scope host the first read draws the token. */
const termOf = (release) => ({
  abandoned: release.abandoned,
  get fencingToken() {
    return release.fencingToken
  },
})

/** Throws unless `it`, the `this` of `method`, is a LeaderElection. */
let check

class LeaderElection {
  #mutex
  #title
  #isOnHost
  #closing = new AbortController()
  #hasLed = false
  /** The signals of running callbacks. */
  #terms = new Set()
  /** The promises of lead(). */
  #candidates = new Set()
  /** { isUnanswered(error), hadAnswered(error) }: whether an error means that the engine's server does not answer. */
  #silence

  static {
    check = (it, method) => {
      if (!(isObject(it) && #mutex in it))
        throw receiverError({ class: 'LeaderElection' }, method, it)
    }
  }

  constructor(options) {
    const { name, scope, ...others } = readOptions(options)
    this.#title = `the leader election ${nameOf(name)}`
    this.#isOnHost = scope === 'host'
    // Without the prefix, a callback that acquires a mutex of the election's name would wait for itself.
    this.#mutex = new Mutex({ ...others, scope, name: `leader:${name}` })
    this.#silence = silenceOf(others.engine)
  }

  get isLeader() {
    check(this, 'isLeader')
    for (const signal of this.#terms) if (!signal.aborted) return true
    return false
  }

  leader() {
    check(this, 'leader')
    if (this.#isOnHost) return this.#mutex.snapshot().holderPids[0]
    const message = `${this.#title} cannot name the leader outside scope 'host': read isLeader in each process`
    throw lockError('ERR_LOCK_UNSUPPORTED', message)
  }

  async lead(callback, options) {
    check(this, 'lead')
    checkCallback(callback)
    if (options !== undefined) checkObject(options)
    const { signal: own } = readWait(options, leadOptions)
    const { signal: closing } = this.#closing
    throwIfAborted(closing)
    const candidate = this.#runFor(callback, [closing, own])
    this.#candidates.add(candidate)
    try {
      return await candidate
    } finally {
      this.#candidates.delete(candidate)
    }
  }

  async close() {
    check(this, 'close')
    const message = `${this.#title} has been closed: construct another one to lead again`
    abort(this.#closing, lockError('ERR_LOCK_CLOSED', message))
    await Promise.allSettled(this.#candidates)
    // Over an engine wait until the server has been told, because this process may end next.
    if (this.#hasLed) await lockOf(this.#mutex, mutexKind, 'close').told?.()
  }

  async [Symbol.asyncDispose]() {
    check(this, 'close')
    await this.close()
  }

  /** Leads again and again, until one of `signals` aborts or the callback has ended. */
  async #runFor(callback, signals) {
    const { controller, end } = following(signals)
    const stop = controller.signal
    try {
      while (!stop.aborted) {
        const release = await this.#elected(stop)
        if (release === undefined) break
        const result = await this.#leads(release, callback, stop)
        if (result !== undefined) return result.value
      }
    } finally {
      end()
    }
    return undefined
  }

  /** Resolves to the mutex's releaser, or to undefined if `stop` aborts first. */
  async #elected(stop) {
    let isTold = false
    for (;;) {
      try {
        return await this.#mutex.acquire({ signal: stop })
      } catch (error) {
        if (stop.aborted && error === reasonOf(stop)) return undefined
        const { isUnanswered, hadAnswered } = this.#silence
        if (!isUnanswered(error)) throw error
        // Warn once for each time that the server stops answering. The next attempt again waits for an answer.
        if (!isTold || hadAnswered(error)) {
          const message = `${this.#title} goes on without an answer: ${error.message}`
          warn('BOXOFFICE_ELECTION_UNANSWERED', message)
        }
        isTold = true
      }
    }
  }

  /**
   * Runs `callback` for one term. Resolves to { value }, the callback's result, or to undefined if the term was lost or
   * stopped.
   */
  async #leads(release, callback, stop) {
    const { signal: lease } = release
    const { controller, end } = following([lease, stop])
    const { signal } = controller
    try {
      if (signal.aborted) {
        // The callback has not begun, so the next leader must learn of a death that this grant reports.
        giveBackUndelivered(release)
        return undefined
      }
      this.#hasLed = true
      this.#terms.add(signal)
      const value = await callback(signal, termOf(release))
      return signal.aborted && !stop.aborted ? undefined : { value }
    } catch (error) {
      if (isEndOf(signal, error)) return undefined
      throw error
    } finally {
      this.#terms.delete(signal)
      end()
      release()
    }
  }
}

const silenceOf = (engine) =>
  engine === undefined ? { isUnanswered: () => false } : require('../cluster/errors.js')

/** Whether `error` is the result of work that stopped because of `signal`. */
function isEndOf(signal, error) {
  if (!signal.aborted) return false
  const reason = reasonOf(signal)
  return error === reason || error?.cause === reason || error?.name === 'AbortError'
}

function readOptions(options) {
  checkObject(options)
  checkKnown(options, electionOptions)
  const { name, scope, directory, engine, diagnostics, warnAfter, maxHold } = options
  if (typeof name !== 'string')
    throw new TypeError('name must be a string, the same for all candidates of one LeaderElection')
  if (name === '') throw new RangeError('name must not be empty')
  if (scope === undefined && engine === undefined) {
    throw new TypeError(
      "a LeaderElection needs its scope: { scope: 'host' } for the processes of this machine, { engine } for machines, { scope: 'process' } for the threads of this process",
    )
  }
  return { name, scope, directory, engine, diagnostics, warnAfter, maxHold }
}

module.exports = { LeaderElection }
