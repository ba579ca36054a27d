'use strict'
// Leader election over a mutex: the process that holds it leads.
const { following } = require('../core/abort.js')
const { lockError } = require('../core/errors.js')
const { nameOf } = require('../core/keys.js')
const { checkCallback, checkKnown, checkObject, checkSignal } = require('../core/options.js')
const { unseen } = require('../core/releaser.js')
const { isObject, receiverError } = require('./receiver.js')
const { Mutex } = require('./mutex.js')

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

/** What a callback is told of the term that it leads for. */
class LeaderTerm {
  #release

  constructor(release) {
    this.#release = release
  }

  /** In scope host it is drawn when it is first asked for. */
  get fencingToken() {
    return this.#release.fencingToken
  }

  get abandoned() {
    return this.#release.abandoned
  }
}

/** All that candidates of one LeaderElection have in common. */
class Election {
  #mutex
  #title
  #isOnHost
  #closing = new AbortController()
  /** The signals of the callbacks that run. */
  #terms = new Set()
  /** The promises of lead(). */
  #candidates = new Set()

  constructor({ name, scope, ...others }) {
    this.#title = `the leader election ${nameOf(name)}`
    this.#isOnHost = scope === 'host'
    // A prefix of its own: a mutex of that name in the callback would wait for the callback.
    this.#mutex = new Mutex({ ...others, scope, name: `leader:${name}` })
  }

  get isLeader() {
    for (const signal of this.#terms) if (!signal.aborted) return true
    return false
  }

  leader() {
    if (this.#isOnHost) return this.#mutex.snapshot().holderPids[0]
    const message = `${this.#title} cannot tell who leads: leader() is for scope 'host'`
    throw lockError('ERR_LOCK_UNSUPPORTED', message)
  }

  async lead(callback, own) {
    const { signal: closing } = this.#closing
    if (closing.aborted) throw closing.reason
    const candidate = this.#runFor(callback, own === undefined ? [closing] : [closing, own])
    this.#candidates.add(candidate)
    try {
      return await candidate
    } finally {
      this.#candidates.delete(candidate)
    }
  }

  async close() {
    const message = `${this.#title} has been closed: construct another one to lead again`
    this.#closing.abort(lockError('ERR_LOCK_CLOSED', message))
    await Promise.allSettled(this.#candidates)
  }

  /** Leads again and again, until one of `signals` is aborted or the callback is through. */
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

  /** A promise for the releaser of the mutex, or for undefined where `stop` has been aborted before. */
  async #elected(stop) {
    let isTold = false
    for (;;) {
      try {
        return await this.#mutex.acquire({ signal: stop })
      } catch (error) {
        if (stop.aborted && error === stop.reason) return undefined
        if (!isUnanswered(error)) throw error
        if (!isTold) this.#warns(error)
        isTold = true
      }
    }
  }

  /** The server may be back by the next attempt, which waits for its answer as long as this one has. */
  #warns({ message }) {
    process.emitWarning(`${this.#title} goes on without an answer: ${message}`, {
      type: 'BoxofficeWarning',
      code: 'BOXOFFICE_ELECTION_UNANSWERED',
    })
  }

  /** A promise for { value }, which the callback has returned, or for undefined where the term was ended from outside. */
  async #leads(release, callback, stop) {
    const { signal: lease } = release
    const { controller, end } = following(lease === undefined ? [stop] : [lease, stop])
    const { signal } = controller
    let giveBack = release
    try {
      if (signal.aborted) {
        // No callback was told of a death: the next leader is.
        giveBack = release[unseen] ?? release
        return undefined
      }
      this.#terms.add(signal)
      const value = await callback(signal, new LeaderTerm(release))
      return signal.aborted && !stop.aborted ? undefined : { value }
    } catch (error) {
      if (isEndOf(signal, error)) return undefined
      throw error
    } finally {
      this.#terms.delete(signal)
      end()
      giveBack()
    }
  }
}

/** Whether the server of an engine has been asked in vain. */
function isUnanswered(error) {
  if (error?.code !== 'ERR_LOCK_ENGINE') return false
  return require('../cluster/errors.js').isUnanswered(error)
}

/** Whether `error` is how work stops that has been told to by `signal`. */
function isEndOf(signal, error) {
  if (!signal.aborted) return false
  const { reason } = signal
  return error === reason || error?.cause === reason || error?.name === 'AbortError'
}

function readOptions(options) {
  checkObject(options)
  checkKnown(options, electionOptions)
  const { name, scope, directory, engine, diagnostics, warnAfter, maxHold } = options
  if (typeof name !== 'string') throw new TypeError('name must be a string')
  if (name === '') throw new RangeError('name must not be empty')
  if (scope === undefined && engine === undefined) {
    throw new TypeError(
      "a LeaderElection needs its scope: { scope: 'host' } for the processes of this machine, { engine } for machines",
    )
  }
  return { name, scope, directory, engine, diagnostics, warnAfter, maxHold }
}

function readSignal(options) {
  if (options === undefined) return undefined
  checkObject(options)
  checkKnown(options, leadOptions)
  const { signal } = options
  if (signal !== undefined) checkSignal(signal)
  return signal
}

const kind = { class: 'LeaderElection' }

/** The election of `it`, which is the `this` of `method`: anything else throws. */
let electionOf

class LeaderElection {
  #election

  static {
    electionOf = (it, method) => {
      if (isObject(it) && #election in it) return it.#election
      throw receiverError(kind, method, it)
    }
  }

  constructor(options) {
    this.#election = new Election(readOptions(options))
  }

  get isLeader() {
    return electionOf(this, 'isLeader').isLeader
  }

  leader() {
    return electionOf(this, 'leader').leader()
  }

  async lead(callback, options) {
    const election = electionOf(this, 'lead')
    checkCallback(callback)
    return election.lead(callback, readSignal(options))
  }

  async close() {
    await electionOf(this, 'close').close()
  }

  async [Symbol.asyncDispose]() {
    await electionOf(this, 'close').close()
  }
}

module.exports = { LeaderElection }
