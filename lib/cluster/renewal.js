'use strict'
// Opens and renews an engine's session, and writes the end of its safety to memory that the event
// loop reads: see keeper.js. It runs in a thread of its own (keeper_thread.js).
const { ClaimWatch } = require('./claim_watch.js')
const { readUntil, safely, writeUntil } = require('./clock.js')
const { pack, reasonOf } = require('./errors.js')

/** The part of its ttl after which a session that another thread opens is renewed for the first time. */
const early = 1 / 6

class Renewal {
  #makeConnection
  #ttl
  #post
  #clock
  #claims
  /** The connection: attempted again until it succeeds, then kept. */
  #connecting
  #connection
  /** Why the connection is down, or the last renewal failed. Both are retried. */
  #trouble
  /** The session to renew, until another one replaces it. */
  #current

  /**
   * `connect(trouble)` is that of a driver's keeper (engine.d.ts), `post` sends a message to the Keeper, and `claims` is the
   * memory of its claims.
   */
  constructor({ connect, ttl, post, clock, claims }) {
    this.#makeConnection = connect
    this.#ttl = ttl
    this.#post = post
    this.#clock = clock
    this.#claims = new ClaimWatch({ buffer: claims, clock, post })
  }

  #connect() {
    this.#connecting ??= this.#makeConnection((error) => this.#tell(error)).then(
      (connection) => {
        this.#connection = connection
        return connection
      },
      (error) => {
        this.#connecting = undefined
        throw error
      },
    )
    return this.#connecting
  }

  #tell(error) {
    this.#trouble = error
    this.#claims.use(error === undefined ? this.#connection : undefined)
    this.#post({ error: error && pack(error) })
  }

  #after(time) {
    return new Promise((resolve) => this.#clock.setTimeout(resolve, time))
  }

  /** Another thread is opening the session `id`: this one loads the client and connects early enough to renew it. */
  async prepare(id) {
    this.#current = id
    await this.#after(this.#ttl * early)
    // Where that fails, so does the renewal, which tries again.
    if (this.#current === id) this.#connect().catch(() => {})
  }

  /** Opens the session `id`, unless it `isOpen`, and renews it. */
  async keep({ id, buffer, isOpen }) {
    this.#current = id
    const until = new BigInt64Array(buffer)
    const ttl = this.#ttl
    try {
      if (!isOpen) await this.#open(id, until)
      for (let pause = isOpen ? this.#untilEarly(until) : ttl / 3; ; pause = ttl / 3) {
        await this.#after(pause)
        if (this.#current !== id) return
        await this.#renew(id, until)
      }
    } catch (error) {
      writeUntil(until, 0)
      this.#post({ id, isOpen: false, error: pack(error) })
    }
  }

  /** The time left until the first renewal of a session that another thread has opened, perhaps long ago. */
  #untilEarly(until) {
    return Math.max(0, readUntil(until) - safely(this.#ttl) * (1 - early) - this.#clock.now())
  }

  async #open(id, until) {
    const keeper = await this.#connect()
    const sent = this.#clock.now()
    await keeper.open(id, this.#ttl)
    this.#extend(until, sent)
    this.#post({ id, isOpen: true })
  }

  /** The server has the session for its ttl from when it got the command, which was `sent`. */
  #extend(until, sent) {
    writeUntil(until, sent + safely(this.#ttl))
    if (this.#trouble !== undefined) this.#tell(undefined)
    this.#claims.use(this.#connection)
  }

  /** There are claims to confirm. */
  watchClaims() {
    this.#claims.start()
  }

  /** Retries until the session has been renewed once. Throws when the session is over. */
  async #renew(id, until) {
    const end = readUntil(until)
    while (this.#current === id && this.#clock.now() < end) {
      const sent = this.#clock.now()
      const attempt = this.#tryToRenew(id)
      const answer = await Promise.race([attempt, this.#after(this.#ttl / 3)])
      if (answer === false) throw new Error('the server has ended it')
      if (answer === true) {
        this.#extend(until, sent)
        return
      }
    }
    const trouble = this.#trouble
    const why = trouble === undefined ? '' : `: ${reasonOf(trouble)}`
    if (this.#current === id) {
      throw new Error(`it could not be renewed in time${why}`, trouble && { cause: trouble })
    }
  }

  /** Whether the session existed and was renewed; undefined if the attempt failed. */
  async #tryToRenew(id) {
    try {
      const keeper = await this.#connect()
      return await keeper.renew(id, this.#ttl)
    } catch (error) {
      this.#tell(error)
      await this.#after(this.#ttl / 20)
    }
  }

  /** Renews the session `id` no more. */
  forget(id) {
    if (this.#current === id) this.#current = undefined
  }

  async end() {
    this.#current = undefined
    await this.#connection?.close()
  }
}

module.exports = { Renewal }
