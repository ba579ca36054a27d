'use strict'
// The lock manager of all processes of this machine: its names are keys of read-write locks.
const { hostHomeOf } = require('./host_cores.js')
const { modeNames } = require('./lock_request_options.js')
const { RWCore } = require('./rw_core.js')
const { lockOf } = require('./web_lock.js')

class HostManager {
  #home

  constructor(host) {
    this.#home = hostHomeOf(new RWCore(), host, {}, () => 'lock manager')
  }

  /** A promise for a Releaser, or for undefined where the lock is not available now. */
  async acquire(name, { ifAvailable, mode, signal, steal, priority, timeout }) {
    if (steal) {
      const message = "a lock of scope 'host' cannot be stolen: it is freed when its process ends"
      throw new DOMException(message, 'NotSupportedError')
    }
    const isShared = modeNames[mode] === 'shared'
    const limits = { priority, signal, timeout }
    return this.#home.with(name, (core) => {
      if (ifAvailable) return isShared ? core.tryAcquireRead() : core.tryAcquireWrite()
      return isShared ? core.acquireRead(limits) : core.acquireWrite(limits)
    })
  }

  /** Calls back while the lock is held. */
  async request(name, wish, callback) {
    const release = await this.acquire(name, wish)
    if (release === undefined) return callback(null)
    try {
      return await callback(lockOf({ name, mode: wish.mode }))
    } finally {
      release()
    }
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

module.exports = { HostManager }
