'use strict'
// Sends the commands of an engine, for the driver and for the renewing thread: keeps sessions, and runs the steps of
// script.js.
const { createHash } = require('node:crypto')
const { hostname } = require('node:os')
const { shardsError, versionError } = require('../errors.js')
const { channelOf, keysOf, protocol, sessionOf, shardsOf, versionOf } = require('./names.js')
const { explained, rightsOf } = require('./rights.js')
const script = require('./script.js')

/** For operators: see docs/operations.md. */
const owner = `${hostname()}:${process.pid}`

/**
 * Whether a cluster refused a step because the slot of its key is being moved: see script.js. A client may follow such
 * a redirection first; then its last error contains the text. node-redis does not find a server that has no slots yet.
 */
const isMoving = ({ message }) => /\b(TRYAGAIN|ASK|MOVED) |^Cannot find node /.test(message)

class Server {
  #bases
  #prefix
  #isCluster
  #patience
  #stepPatience
  #send
  #publish

  /**
   * The names of an engine begin with one of `bases`: it has one for each shard. send(base, words, time) sends a
   * command, and rejects if the answer takes `time` ms, by default `patience` and for a step `stepPatience`. Its client
   * adds `prefix` to each key.
   */
  constructor({ bases, prefix, isCluster, patience, stepPatience = patience, send }) {
    this.#bases = bases
    this.#prefix = prefix
    this.#isCluster = isCluster
    this.#patience = patience
    this.#stepPatience = stepPatience
    this.#send = send
    this.#publish = isCluster ? 'SPUBLISH' : 'PUBLISH'
  }

  /** The bases with the prefix that the client adds. */
  get names() {
    return this.#bases.map((base) => this.#prefix + base)
  }

  /** The channels for the messages to `session`. */
  channels(session) {
    return this.names.map((name) => channelOf(name, session))
  }

  /** The channel for the messages to `session` about the lock `key`. */
  channelFor(key, session) {
    return channelOf(this.#prefix + this.#baseOf(key), session)
  }

  #baseOf(key) {
    const bases = this.#bases
    if (bases.length === 1) return bases[0]
    const digest = createHash('sha1').update(key).digest()
    return bases[digest.readUInt32BE(0) % bases.length]
  }

  /** Returns an error that lists the required rights if `error` is about a missing right, or else `error`. */
  explained(error) {
    return explained(error, () => rightsOf(this.names, this.#isCluster))
  }

  /** Resolves to the results of doing(base) for all bases. */
  #forAll(doing) {
    return Promise.all(this.#bases.map(doing))
  }

  async #ask(base, words, time = this.#patience) {
    try {
      return await this.#send(base, words, time)
    } catch (error) {
      throw this.explained(error)
    }
  }

  /** Rejects if the processes of this prefix have another number of shards: for them, most locks lie in other shards. */
  async #checkShards() {
    const [base] = this.#bases
    const ours = `${this.#bases.length}`
    const theirs = await this.#ask(base, ['SET', shardsOf(base), ours, 'NX', 'GET'])
    if (theirs !== null && `${theirs}` !== ours) throw shardsError(shardsOf(base), theirs, ours)
  }

  /** Opens `session` for `ttl` ms. */
  open(session, ttl) {
    const opened = this.#forAll(async (base) => {
      const theirs = await this.#ask(base, ['SET', versionOf(base), protocol, 'NX', 'GET'])
      if (theirs !== null && `${theirs}` !== protocol) {
        const cure = `delete all keys that begin with ${base}:`
        throw versionError(`${base} in Redis`, theirs, protocol, cure)
      }
      await this.#ask(base, ['SET', sessionOf(base, session), `${owner} ${ttl}`, 'PX', `${ttl}`])
    })
    return Promise.all([opened, this.#checkShards()])
  }

  /** Extends `session` to `ttl` ms from now on. Resolves to false if it is over. */
  async renew(session, ttl) {
    // A third of the ttl leaves time for another attempt with a new connection.
    const time = Math.ceil(ttl / 3)
    const answers = await this.#forAll((base) =>
      this.#ask(base, ['PEXPIRE', sessionOf(base, session), `${ttl}`], time),
    )
    return answers.every((answer) => Number(answer) === 1)
  }

  end(session) {
    return this.#forAll((base) => this.#ask(base, ['DEL', sessionOf(base, session)]))
  }

  /**
   * Sends `text` to all channels of the session. Resolves to how many connections the server has sent it to, for each.
   */
  publish(session, text) {
    return this.#forAll((base) => {
      // ioredis treats the channels of a cluster as keys, and adds its prefix itself.
      const channel = channelOf(this.#isCluster ? base : this.#prefix + base, session)
      return this.#ask(base, [this.#publish, channel, text])
    })
  }

  /**
   * Rejects if the user lacks the right to a command that a step uses. Resolves to how each server evicts keys, if it
   * is known and not 'noeviction'.
   */
  async check(session) {
    const policies = await this.#forAll(async (base) => {
      try {
        const [policy] = await this.run('check', 'check', session, [], base)
        return policy
      } catch (error) {
        // Skip the check of a slot that is being moved, so that the locks of other slots need not wait.
        if (!isMoving(error)) throw error
      }
    })
    return policies.filter((policy) => policy !== undefined && policy !== 'noeviction')
  }

  /**
   * Runs a step for the request `id` of the lock `key`. Resolves to the words of the answer as strings: some clients
   * return buffers.
   */
  async run(step, key, id, words, base = this.#baseOf(key)) {
    const keys = keysOf(base, key)
    const rest = [`${keys.length}`, ...keys, key, id, this.#publish, step, ...words]
    const ask = (...start) => this.#ask(base, [...start, ...rest].map(String), this.#stepPatience)
    let answer
    try {
      answer = await ask('EVALSHA', script.digest)
    } catch (error) {
      if (!error.message.startsWith('NOSCRIPT')) throw error
      // Load the script again, after Redis has restarted or its scripts were flushed.
      answer = await ask('EVAL', script.text)
    }
    return answer.map(String)
  }

  /** Implements confirm() of a driver. */
  async confirm({ key, id, claim, capacity, maxHold }) {
    const [state, , wanted] = await this.run('confirm', key, id, [claim, capacity, maxHold])
    return { state, wanted: wanted === '1' }
  }
}

module.exports = { Server, isMoving }
