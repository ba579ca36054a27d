'use strict'
// Opens and renews an engine's session, in a separate thread (keeper_thread.js). Writes the time until which the
// session is safe to memory that the event loop reads: see keeper.js.
const { ClaimWatch } = require('./claim_watch.js')
const { after, readUntil, safely, writeUntil } = require('./clock.js')
const { pack, reasonOf } = require('./errors.js')
const { inTime, noAnswer } = require('./patience.js')

/** The part of the ttl after which a session is renewed, counted from sending the last command that did so. */
const usual = 1 / 3
/** The same for the first renewal of a session that the event loop has opened. */
const early = 1 / 6

class Renewal {
  #makeConnection
  #ttl
  #post
  #clock
  #claims
  /** A promise for the connection. A failed attempt is repeated, a connection is kept. */
  #connecting
  #connection
  /** Why the connection is down or the last renewal failed, while the thread retries. */
  #trouble
  /** Why the last renewal failed, until one succeeds. */
  #failure
  /** The id of the session to renew, until another session replaces it. */
  #current

  /**
   * `connect(trouble)` connects as a driver's keeper does (engine.d.ts), `post` sends a message to the Keeper, and
   * `claims` is the memory of its claims.
   */
  constructor({ connect, ttl, post, clock, claims }) {
    this.#makeConnection = connect
    this.#ttl = ttl
    this.#post = post
    this.#clock = clock
    this.#claims = new ClaimWatch({ buffer: claims, clock, post })
  }

  #connect() {
    // A new connection does not show that the server renews sessions.
    const trouble = (error) => this.#tell(error ?? this.#failure)
    this.#connecting ??= this.#makeConnection(trouble).then(
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

  /**
   * Called while the event loop opens the session `id`. Loads the client and connects early enough to renew the
   * session.
   */
  async prepare(id) {
    this.#current = id
    await after(this.#clock, this.#ttl * early)
    // If this fails, the renewal fails, too, and tries again.
    if (this.#current === id) this.#connect().catch(() => {})
  }

  /** Opens the session `id`, unless it `isOpen`, and renews it until another one replaces it. */
  async keep({ id, buffer, isOpen }) {
    this.#current = id
    const until = new BigInt64Array(buffer)
    try {
      if (!isOpen) await this.#open(id, until)
      for (let part = isOpen ? early : usual; ; part = usual) {
        await after(this.#clock, this.#untilPart(part, until))
        if (this.#current !== id) return
        await this.#renew(id, until)
      }
    } catch (error) {
      writeUntil(until, 0)
      this.#post({ id, isOpen: false, error: pack(error) })
    }
  }

  /** Returns the time until `part` of the ttl has passed since the last renewal was sent, perhaps long ago. */
  #untilPart(part, until) {
    return Math.max(0, readUntil(until) - safely(this.#ttl) * (1 - part) - this.#clock.now())
  }

  async #open(id, until) {
    const keeper = await this.#connect()
    const sent = this.#clock.now()
    await keeper.open(id, this.#ttl)
    this.#extend(until, sent)
    this.#post({ id, isOpen: true })
  }

  /** Called when the server has confirmed the session for its ttl, by a command that was sent at the time `sent`. */
  #extend(until, sent) {
    writeUntil(until, sent + safely(this.#ttl))
    this.#failure = undefined
    if (this.#trouble !== undefined) this.#tell(undefined)
    this.#claims.use(this.#connection)
  }

  /** Called when there are claims to confirm. */
  watchClaims() {
    this.#claims.start()
  }

  /** Renews the session once, with retries. Throws when the session is over. */
  async #renew(id, until) {
    const end = readUntil(until)
    while (this.#current === id && this.#clock.now() < end) {
      const sent = this.#clock.now()
      const answer = await this.#tryToRenew(id)
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

  /** Resolves to whether the session existed and was renewed, or to undefined if the attempt failed. */
  async #tryToRenew(id) {
    const patience = this.#ttl / 3
    const end = this.#clock.now() + patience
    const late = () => this.#trouble ?? noAnswer(patience)
    try {
      const renewing = this.#connect().then((keeper) => keeper.renew(id, this.#ttl))
      return await inTime(renewing, patience, late, { clock: this.#clock })
    } catch (error) {
      // Another session may have replaced this one.
      if (this.#current !== id) return
      // Its connection may have told the error, and tells when it is up again.
      if (error !== this.#trouble) {
        this.#failure = error
        this.#tell(error)
      }
      await after(this.#clock, Math.max(0, Math.min(this.#ttl / 20, end - this.#clock.now())))
    }
  }

  forget(id) {
    if (this.#current === id) this.#current = undefined
  }

  async end() {
    this.#current = undefined
    await this.#connection?.close()
  }
}

module.exports = { Renewal }
