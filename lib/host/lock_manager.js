'use strict'
// The lock manager of all processes of this machine: its names are keys of read-write locks.
const { hostHomeOf } = require('./cores.js')
const { HostReader, HostWriter, releaserOf, steal: stealFrom } = require('./grants.js')
const { modeNames } = require('../weblocks/request_options.js')
const { readWait } = require('../core/options.js')
const { RWCore, read, write } = require('../process/rw_core.js')
const { lockOf } = require('../weblocks/lock.js')

class HostManager {
  #home

  constructor(host) {
    this.#home = hostHomeOf(new RWCore(), host, {}, () => 'lock manager')
  }

  /** A promise for a Releaser, or for undefined where the lock is not available now. */
  async acquire(name, wish) {
    const grant = await this.#enter(name, wish)
    if (grant === undefined) return undefined
    if (grant.isStolen) throw grant.stolenError()
    return releaserOf(grant)
  }

  /** Calls back while the lock is held. */
  async request(name, wish, callback) {
    const grant = await this.#enter(name, wish)
    if (grant === undefined) return callback(null)
    return new Promise((resolve, reject) => {
      grant.onStolen = () => reject(grant.stolenError())
      if (grant.isStolen) grant.onStolen()
      run(grant, () => callback(lockOf({ name, mode: wish.mode })), resolve, reject)
    })
  }

  #enter(name, { ifAvailable, mode, signal, steal, priority, timeout }) {
    const isShared = modeNames[mode] === 'shared'
    const [ask, Kind] = isShared ? [read, HostReader] : [write, HostWriter]
    return this.#home.with(name, (core) => {
      core.checkThere()
      if (steal) return stealFrom(core)
      if (!ifAvailable) return core.enterLine(ask, readWait({ priority, signal, timeout }), Kind)
      return core.tryNow(ask, (own, abandoned) => Kind.value(own, ask, abandoned))
    })
  }

  /** One entry for each process that holds a lock or waits for it. What those want who wait, nobody else knows. */
  query() {
    const snapshot = { held: [], pending: [] }
    for (const { key, written, holderPids, waiterPids } of this.#home.snapshot()) {
      const mode = written ? 'exclusive' : 'shared'
      for (const pid of holderPids) {
        snapshot.held.push({ name: key, mode, clientId: `node-${pid}` })
      }
      for (const pid of waiterPids) snapshot.pending.push({ name: key, clientId: `node-${pid}` })
    }
    return snapshot
  }
}

/** What is done within a lock goes on though it be stolen meanwhile. */
async function run(grant, action, resolve, reject) {
  try {
    const value = await action()
    grant.release()
    resolve(value)
  } catch (error) {
    grant.release()
    reject(error)
  }
}

module.exports = { HostManager }
