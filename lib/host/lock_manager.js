'use strict'
// The lock manager of all processes of this machine: its names are keys of read-write locks.
const { hostKeyMapOf } = require('./cores.js')
const { checkHostTimes } = require('../locks/hold_times.js')
const { modeNames } = require('../weblocks/request_options.js')
const { lockOf } = require('../weblocks/lock.js')

class HostManager {
  #keyMap

  constructor(host, times) {
    checkHostTimes(times, 'lock manager')
    this.#keyMap = hostKeyMapOf('read-write lock', 0, host, {}, 'lock manager')
  }

  /** A promise for a Releaser, or for undefined where the lock is not available now. */
  async acquire(name, { ifAvailable, mode, signal, steal, priority, timeout }) {
    if (steal) {
      throw new DOMException("a lock of scope 'host' cannot be stolen", 'NotSupportedError')
    }
    const isShared = modeNames[mode] === 'shared'
    const limits = { priority, signal, timeout, ifAvailable }
    const release = await this.#keyMap.with(name, (core) => {
      core.checkThere()
      return isShared ? core.acquireRead(limits) : core.acquireWrite(limits)
    })
    return release && Object.defineProperty(release, 'signal', neverAborted)
  }

  /** Calls back while the lock is held. */
  async request(name, wish, callback) {
    const release = await this.acquire(name, wish)
    if (release === undefined) return callback(null)
    try {
      return await callback(lockOf({ name, mode: wish.mode }, release))
    } finally {
      release()
    }
  }

  /** One entry for each process that holds a lock or waits for it. What those want who wait, nobody else knows. */
  query() {
    const snapshot = { held: [], pending: [] }
    for (const { key, written, holderPids, waiterPids } of this.#keyMap.snapshot()) {
      const mode = written ? 'exclusive' : 'shared'
      for (const pid of holderPids) {
        snapshot.held.push({ name: key, mode, clientId: `node-${pid}` })
      }
      for (const pid of waiterPids) snapshot.pending.push({ name: key, clientId: `node-${pid}` })
    }
    return snapshot
  }
}

/** A grant of scope host is not lost before it is released: its signal is there for the sake of other scopes. */
const neverAborted = {
  configurable: true,
  enumerable: true,
  get() {
    const { signal } = new AbortController()
    Object.defineProperty(this, 'signal', { value: signal, configurable: true, enumerable: true })
    return signal
  },
}

module.exports = { HostManager }
