'use strict'
// The lock manager over an engine: its names are keys of read-write locks. Its locks cannot be
// stolen.
const { listen, reasonOf } = require('../core/abort.js')
const { checkInTime, makeLock } = require('../weblocks/lock.js')
const { modeNames } = require('../weblocks/request_options.js')
const { keyMapOver } = require('./open.js')

class ManagerOver {
  #keyMap

  constructor(engine, name, times) {
    this.#keyMap = keyMapOver({ engine, name, isStrict: false, times }, 'lock', '')
  }

  /**
   * Resolves to a Releaser, or to undefined if `ifAvailable` is set and the lock is not available.
   */
  async acquire(name, { ifAvailable, mode, signal, steal, priority, timeout }) {
    if (steal) {
      throw new DOMException(
        'a lock over an engine cannot be stolen: request it without steal',
        'NotSupportedError',
      )
    }
    const limits = { priority, signal, timeout, ifAvailable }
    return this.#keyMap.with(name, (lock) =>
      modeNames[mode] === 'shared' ? lock.acquireRead(limits) : lock.acquireWrite(limits),
    )
  }

  /** Runs `callback` while the lock is held; rejects at once when the lock is lost. */
  async request(name, wish, callback) {
    const release = await this.acquire(name, wish)
    if (release === undefined) return callback(null)
    checkInTime(release, wish.signal)
    const { signal } = release
    try {
      return await new Promise((resolve, reject) => {
        listen(signal, () => reject(reasonOf(signal)))
        // In an async function, so that any error it throws rejects.
        const run = async () => callback(makeLock({ name, mode: wish.mode }, release))
        run().then(resolve, reject)
      })
    } finally {
      release()
    }
  }

  /** The held locks and the pending requests of this thread. */
  query(clientId) {
    const snapshot = { held: [], pending: [] }
    for (const lock of this.#keyMap.busy()) {
      for (const { isIn, mode } of lock.callers) {
        const list = isIn ? snapshot.held : snapshot.pending
        list.push({ name: lock.key, mode, clientId })
      }
    }
    return snapshot
  }
}

module.exports = { ManagerOver }
