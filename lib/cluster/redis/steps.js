'use strict'
// Runs the steps of script.js, for the driver and for the renewing thread.
const { createHash } = require('node:crypto')
const { keysOf } = require('./names.js')
const { explained } = require('./rights.js')
const script = require('./script.js')

/** Returns the base of the lock `key`. An engine has one base per shard. */
function baseOf(bases, key) {
  if (bases.length === 1) return bases[0]
  const digest = createHash('sha1').update(key).digest()
  return bases[digest.readUInt32BE(0) % bases.length]
}

/** Runs the steps of one engine. `send(base, words)` sends a command, and `rights` is the text of rightsOf(). */
class Steps {
  #send
  #publish
  #rights

  constructor({ send, isCluster, rights }) {
    this.#send = send
    this.#publish = isCluster ? 'SPUBLISH' : 'PUBLISH'
    this.#rights = rights
  }

  /** Resolves to the words of the answer as strings. Some clients return buffers. */
  async run(step, base, key, id, words) {
    const keys = keysOf(base, key)
    const rest = [`${keys.length}`, ...keys, key, id, this.#publish, step, ...words.map(String)]
    try {
      const answer = await this.#evaluate(base, rest)
      return answer.map(String)
    } catch (error) {
      throw explained(error, this.#rights)
    }
  }

  async #evaluate(base, rest) {
    try {
      return await this.#send(base, ['EVALSHA', script.digest, ...rest])
    } catch (error) {
      if (!error.message.startsWith('NOSCRIPT')) throw error
      // Load the script again, after Redis has restarted or its scripts were flushed.
      return await this.#send(base, ['EVAL', script.text, ...rest])
    }
  }

  /** Implements confirm() of a driver, for a lock of `base`. */
  async confirm(base, { key, id, claim, capacity, maxHold }) {
    const [state, , wanted] = await this.run('confirm', base, key, id, [claim, capacity, maxHold])
    return { state, wanted: wanted === '1' }
  }
}

module.exports = { Steps, baseOf }
