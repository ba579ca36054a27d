'use strict'
// The driver for Redis: see ../engine.js. script.js contains the steps that run inside Redis.
const { typeError } = require('../../core/errors.js')
const { join } = require('node:path')
const { checkInteger } = require('../../core/integers.js')
const { checkKnown, checkObject } = require('../../core/options.js')
const { engineOptions, readEngineOptions, timesOf } = require('../engine.js')
const { findPackage } = require('../find.js')
const { inTime, pause } = require('../patience.js')
const { Subscription } = require('../subscription.js')
const { adapt } = require('./clients.js')
const { echoing } = require('./echo.js')
const { channelOf, sessionOf } = require('./names.js')
const { explained, rightsOf } = require('./rights.js')
const { openSession } = require('./session.js')
const { Steps, baseOf } = require('./steps.js')

/**
 * Whether a cluster refused a step because the slot of its key is being moved: see script.js. A client may follow such
 * a redirection first; then its last error contains the text. node-redis does not find a server that has no slots yet.
 */
const isMoving = ({ message }) => /\b(TRYAGAIN|ASK|MOVED) |^Cannot find node /.test(message)
const whileMoving =
  'the slot of its keys is being moved to another server of the cluster, and no lock in it is granted meanwhile'

const redisOptions = new Set([...engineOptions, 'prefix', 'shards', 'connection'])

class RedisDriver {
  name = 'Redis'
  keepsMinHold = true
  /** The user's client. */
  #source
  #client
  #bases
  #connection
  #patience
  #subscription
  /** The ids of waiting requests whose grant no message has announced. */
  #waiting = new Set()
  #session
  #rights
  #steps

  /** `options` are those of redis(). */
  constructor(client, options) {
    checkObject(options)
    checkKnown(options, redisOptions)
    const { prefix = 'boxoffice', shards = 1, connection } = options
    if (typeof prefix !== 'string') throw typeError('prefix must be a string', prefix)
    if (/[{}]/.test(prefix)) throw new RangeError('prefix must not contain { or }')
    checkInteger('shards', shards, 1, 1024)
    if (connection !== undefined) checkObject(connection)
    const adapted = adapt(client, connection)
    // The first braces of a key contain its hash tag. If they are empty, the key has none.
    if (adapted.isCluster && /^[^{]*\{\}/.test(adapted.prefix)) {
      throw new RangeError(
        `the keyPrefix ${JSON.stringify(adapted.prefix)} of the client must not contain {}: keys of one lock would lie in several slots`,
      )
    }
    const { answerTimeout } = readEngineOptions(timesOf(options))
    this.#source = client
    this.#client = adapted
    this.#connection = connection
    // If the renewing thread has other connection options, it must open the session, so that a failure shows at once.
    if (connection !== undefined) this.open = undefined
    this.#patience = answerTimeout
    // The braces contain a hash tag, so that all keys of a base are in one slot of a cluster.
    this.#bases = Array.from({ length: shards }, (_, i) => `{${prefix}:${i}}`)
    const make = (onMessage, onEnd) =>
      echoing(
        (onText) => adapted.listening(onText, onEnd, answerTimeout),
        onMessage,
        (text) => this.#publish(text),
        adapted.isCluster,
      )
    this.#subscription = new Subscription(make, answerTimeout)
    this.#rights = rightsOf(this.#names(), adapted.isCluster)
    this.#steps = new Steps({
      send: (base, words) => this.#command(base, words),
      isCluster: adapted.isCluster,
      rights: this.#rights,
    })
  }

  get keeper() {
    const client = this.#client.options(this.#connection)
    const path = findPackage(client.module, this.#source)
    return {
      module: join(__dirname, 'keeper.js'),
      data: {
        bases: this.#names(),
        rights: this.#rights,
        patience: this.#patience,
        isCluster: this.#client.isCluster,
        path,
        client,
      },
    }
  }

  /** The bases with the prefix that the client adds. */
  #names() {
    return this.#bases.map((base) => this.#client.prefix + base)
  }

  async listen(session, { granted, wanted, missed, trouble }) {
    const channels = this.#names().map((base) => channelOf(base, session))
    this.#session = session
    this.#waiting.clear()
    const listener = {
      granted: (id, grant) => {
        this.#waiting.delete(id)
        granted(id, this.#client.isReady() ? grant : undefined)
      },
      wanted,
      missed,
      trouble: (error) => trouble(error && explained(error, this.#rights)),
    }
    try {
      await this.#subscription.to(channels, listener)
    } catch (error) {
      throw explained(error, this.#rights)
    }
    await Promise.all(this.#bases.map((base) => this.#check(base, session)))
  }

  async open(session, ttl) {
    const send = (key, words) => this.#command(key, words)
    try {
      await Promise.all(this.#bases.map((base) => openSession(send, base, session, ttl)))
    } catch (error) {
      throw explained(error, this.#rights)
    }
  }

  /** Rejects if the user lacks the right to a command that a step uses. */
  async #check(base, session) {
    try {
      await this.#steps.run('check', base, 'check', session, [])
    } catch (error) {
      // Skip the check of a slot that is being moved, so that the locks of other slots need not wait.
      if (!isMoving(error)) throw error
    }
  }

  /**
   * Subscribes again after a grant that no message has announced: the slot of the channel may have moved to another
   * server of the cluster, which the client does not notice.
   */
  #listenAgain(key) {
    const base = this.#client.prefix + baseOf(this.#bases, key)
    this.#subscription.again(channelOf(base, this.#session))
  }

  async enter({ key, id, units, capacity, wait, first, claim, maxHold, minHold }) {
    const words = [claim, capacity, maxHold, units, +wait, +first, minHold]
    let answer
    try {
      answer = await this.#run('enter', key, id, words)
    } catch (error) {
      // Report the error to a request that does not wait, because it will not ask again.
      if (!wait || !isMoving(error)) throw error
      return { state: 'waiting', look: pause, reason: whileMoving }
    }
    const [state, what, ...rest] = answer
    if (state === 'held') {
      if (this.#waiting.delete(id) && this.#client.isCluster) {
        this.#listenAgain(key)
      }
      return { state, token: BigInt(what), wanted: rest[0] === '1', abandoned: rest[1] === '1' }
    }
    if (state === 'waiting') {
      this.#waiting.add(id)
      return { state, look: Number(what) + 1, clock: Number(rest[0]) }
    }
    return state === 'mismatch' ? { state, capacity: Number(what) } : { state }
  }

  confirm(request) {
    return this.#steps.confirm(baseOf(this.#bases, request.key), request)
  }

  async leave({ key, id, capacity, claim, keep, untold, minHold, unused }) {
    this.#waiting.delete(id)
    await this.#run('leave', key, id, [claim, capacity, keep, +untold, minHold, +unused])
  }

  #run(step, key, id, words) {
    return this.#steps.run(step, baseOf(this.#bases, key), key, id, words)
  }

  /** Sends a command with a time limit, because a client may wait for a silent connection for ever. */
  #command(base, words) {
    return inTime(this.#client.command(base, words), this.#patience)
  }

  /**
   * Sends `text` to all channels of the session. Resolves to how many connections the server has sent it to, for each.
   */
  #publish(text) {
    const { isCluster, prefix } = this.#client
    const send = (base) => {
      // ioredis treats the channels of a cluster as keys, and adds its prefix itself.
      const channel = channelOf(isCluster ? base : prefix + base, this.#session)
      return this.#command(base, [isCluster ? 'SPUBLISH' : 'PUBLISH', channel, text])
    }
    return Promise.all(this.#bases.map(send))
  }

  async end(session) {
    const keys = this.#bases.map((base) => [base, sessionOf(base, session)])
    await Promise.all(keys.map(([base, key]) => this.#command(base, ['DEL', key])))
  }

  async close() {
    this.#subscription.close()
  }
}

module.exports = { redisDriver: (client, options = {}) => new RedisDriver(client, options) }
