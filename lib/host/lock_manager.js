'use strict'
// The lock manager of all processes of this machine. Its names are the keys of read-write locks.
const { defineLazy } = require('../core/releaser.js')
const { hostKeyMapOf } = require('./locks.js')
const { modeNames } = require('../weblocks/request_options.js')
const { checkInTime, makeLock } = require('../weblocks/lock.js')

/** By releaser: the signal that a caller has read. */
const signals = new WeakMap()

class HostManager {
  #keyMap

  constructor(host, times) {
    const traits = { hasDiagnostics: false }
    this.#keyMap = hostKeyMapOf('read-write lock', 0, { host, times }, traits, 'lock manager')
    this.#keyMap.keepFor(this)
  }

  /**
   * Resolves to a Releaser, or to undefined if `ifAvailable` is set and the lock is not available.
   */
  async acquire(name, { ifAvailable, mode, signal, steal, priority, timeout }) {
    if (steal) {
      throw new DOMException(
        "a lock of scope 'host' cannot be stolen: request it without steal",
        'NotSupportedError',
      )
    }
    const isShared = modeNames[mode] === 'shared'
    const limits = { priority, signal, timeout, ifAvailable }
    const release = await this.#keyMap.with(name, (lock) => {
      lock.checkThere()
      return isShared ? lock.acquireRead(limits) : lock.acquireWrite(limits)
    })
    if (release === undefined || Object.hasOwn(release, 'signal')) return release
    return defineLazy(release, 'signal', neverAborted)
  }

  /** Runs `callback` while the lock is held. */
  async request(name, wish, callback) {
    const release = await this.acquire(name, wish)
    if (release === undefined) return callback(null)
    checkInTime(release, wish.signal)
    try {
      return await callback(makeLock({ name, mode: wish.mode }, release))
    } finally {
      release()
    }
  }

  /**
   * One entry for each process that holds or awaits a lock. The segment does not record the mode
   * that a waiter requests.
   */
  query() {
    const snapshot = { held: [], pending: [] }
    for (const { key, written, holderPids, waiterPids } of this.#keyMap.snapshot()) {
      const name = String(key) // only the beginning of a long name that no lock of this thread has
      const mode = written ? 'exclusive' : 'shared'
      for (const pid of holderPids) {
        snapshot.held.push({ name, mode, clientId: `node-${pid}` })
      }
      for (const pid of waiterPids) snapshot.pending.push({ name, clientId: `node-${pid}` })
    }
    return snapshot
  }
}

/**
 * A grant without times is never lost before it is released. It has a signal because grants of
 * other scopes have one.
 */
function neverAborted() {
  if (!signals.has(this)) signals.set(this, new AbortController().signal)
  return signals.get(this)
}

module.exports = { HostManager }
