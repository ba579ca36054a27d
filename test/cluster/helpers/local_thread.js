'use strict'
// In place of the thread that renews sessions: the same Renewal in this thread, by a virtual clock.
const { EventEmitter } = require('node:events')
const { Renewal } = require('../../../lib/cluster/renewal.js')

class LocalThread extends EventEmitter {
  #renewal

  /** `connect()` resolves to an EngineKeeper of engine.d.ts. */
  constructor(connect, { ttl, clock, claims }) {
    super()
    this.#renewal = new Renewal({
      connect,
      ttl,
      claims,
      post: (message) => setImmediate(() => this.emit('message', message)),
      // The timers of another thread keep nothing here alive.
      clock: {
        ...clock,
        now: clock.now,
        setTimeout: (...args) => clock.setTimeout(...args).unref(),
      },
    })
  }

  unref() {}

  postMessage(message) {
    setImmediate(async () => {
      if (message === 'end') {
        await this.#renewal.end()
        this.emit('exit')
      } else if (message === 'claims') {
        this.#renewal.watchClaims()
      } else if (message.isOpening) {
        this.#renewal.prepare(message.id)
      } else if (message.buffer === undefined) {
        this.#renewal.forget(message.id)
      } else {
        this.#renewal.keep(message)
      }
    })
  }
}

module.exports = { LocalThread }
