'use strict'
// What renews the session of an engine: see driver.keeper in ../engine.js. Runs in a thread of its own, with a
// connection of its own.
const { makePool } = require('./connections.js')
const { explained } = require('./rights.js')
const { isTrue } = require('./text.js')

class Keeper {
  #path
  #config
  #names
  #pool

  constructor({ path, config, names }) {
    this.#path = path
    this.#config = config
    this.#names = names
  }

  /** What the function `name` returns, as text. */
  async #call(name, session, ttl) {
    if (this.#pool === undefined) {
      const { Client, Pool } = require(this.#path)
      // One that hangs must not be all there is.
      this.#pool = makePool(Pool, Client, this.#config, 2, Math.ceil(ttl / 3))
    }
    const text = `SELECT ${name}($1, $2) AS answer`
    try {
      const { rows } = await this.#pool.query(text, [session, ttl])
      return rows[0].answer
    } catch (error) {
      throw explained(error, this.#names)
    }
  }

  async open(session, ttl) {
    await this.#call(this.#names.open, session, ttl)
  }

  async renew(session, ttl) {
    return isTrue(await this.#call(this.#names.renew, session, ttl))
  }

  async close() {
    await this.#pool?.end()
  }
}

async function connect(data) {
  return new Keeper(data)
}

module.exports = { connect }
