'use strict'
// The driver for Redis: see ../engine.js. script.js contains the steps that run inside Redis.
const { checkType } = require('../../core/errors.js')
const { join } = require('node:path')
const { checkInteger } = require('../../core/integers.js')
const { checkKnown, checkObject } = require('../../core/options.js')
const { warn } = require('../../core/warn.js')
const { engineOptions, readEngineOptions, timesOf } = require('../engine.js')
const { findPackage } = require('../find.js')
const { inTime, pause } = require('../patience.js')
const { Subscription } = require('../subscription.js')
const { adapt } = require('./clients.js')
const { echoing } = require('./echo.js')
const { Server, isMoving } = require('./server.js')

const whileMoving =
  'the slot of its keys is being moved to another server of the cluster, and no lock in it is granted meanwhile'

const evictionText = (policy) =>
  `Redis may evict locks, which are lost then: set its maxmemory-policy to noeviction, not ${policy}`

const redisOptions = new Set([...engineOptions, 'prefix', 'shards', 'connection'])

class RedisDriver {
  name = 'Redis'
  keepsMinHold = true
  mayForget = true
  #client
  #server
  #subscription
  /** The ids of waiting requests whose grant no message has announced. */
  #waiting = new Set()
  #session

  /** `options` are those of redis(). */
  constructor(client, options) {
    checkObject(options)
    checkKnown(options, redisOptions)
    const { prefix = 'boxoffice', shards = 1, connection } = options
    checkType('prefix', prefix, 'string')
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
    const { answerTimeout: patience } = readEngineOptions(timesOf(options))
    this.#client = adapted
    // If the renewing thread has other connection options, it must open the session, so that a failure shows at once.
    if (connection !== undefined) this.open = undefined
    const { isCluster } = adapted
    this.#server = new Server({
      // The braces contain a hash tag, so that all keys of a base are in one slot of a cluster.
      bases: Array.from({ length: shards }, (_, i) => `{${prefix}:${i}}`),
      prefix: adapted.prefix,
      isCluster,
      patience,
      // A client may wait for a silent connection for ever.
      send: (base, words, time) => inTime(adapted.command(base, words), time),
    })
    const how = adapted.options(connection)
    const path = findPackage(how.module, client)
    this.keeper = {
      module: join(__dirname, 'keeper.js'),
      data: { bases: this.#server.names, patience, isCluster, path, client: how },
    }
    const make = (onMessage, onEnd) =>
      echoing(
        (onText) => adapted.listening(onText, onEnd, patience),
        onMessage,
        (text) => this.#server.publish(this.#session, text),
        isCluster,
      )
    this.#subscription = new Subscription(make, patience)
  }

  async listen(session, listener) {
    const server = this.#server
    this.#session = session
    this.#waiting.clear()
    try {
      await this.#subscription.to(server.channels(session), {
        ...listener,
        granted: (id, grant) => {
          this.#waiting.delete(id)
          listener.granted(id, this.#client.isReady() ? grant : undefined)
        },
        trouble: (error) => listener.trouble(error && server.explained(error)),
      })
    } catch (error) {
      throw server.explained(error)
    }
    const [policy] = await server.check(session)
    if (policy !== undefined) warn('BOXOFFICE_EVICTION', evictionText(policy))
  }

  open(session, ttl) {
    return this.#server.open(session, ttl)
  }

  async enter({ key, id, units, capacity, wait, first, claim, maxHold, minHold }) {
    const words = [claim, capacity, maxHold, units, +wait, +first, minHold]
    let answer
    try {
      answer = await this.#server.run('enter', key, id, words)
    } catch (error) {
      // Report the error to a request that does not wait, because it will not ask again.
      if (!wait || !isMoving(error)) throw error
      return { state: 'waiting', look: pause, reason: whileMoving }
    }
    const [state, what, ...rest] = answer
    if (state === 'held') {
      // No message has announced the grant: the slot of the channel may have moved to another server, which the client
      // does not notice.
      if (this.#waiting.delete(id) && this.#client.isCluster)
        this.#subscription.again(this.#server.channelFor(key, this.#session))
      return { state, token: BigInt(what), wanted: rest[0] === '1', abandoned: rest[1] === '1' }
    }
    if (state === 'waiting') {
      this.#waiting.add(id)
      return { state, look: Number(what) + 1, clock: Number(rest[0]) }
    }
    return state === 'mismatch' ? { state, capacity: Number(what) } : { state }
  }

  confirm(request) {
    return this.#server.confirm(request)
  }

  async leave({ key, id, capacity, claim, keep, untold, minHold, unused }) {
    this.#waiting.delete(id)
    const words = [claim, capacity, keep, +untold, minHold, +unused]
    await this.#server.run('leave', key, id, words)
  }

  end(session) {
    return this.#server.end(session)
  }

  async close() {
    this.#subscription.close()
  }
}

module.exports = { redisDriver: (client, options = {}) => new RedisDriver(client, options) }
