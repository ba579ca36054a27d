'use strict'
// A lock manager over a key map of read-write locks: the keys are the names of its locks. Its locks cannot be stolen.
const { checkInTime, makeLock } = require('./lock.js')
const { modeNames } = require('./request_options.js')

/** Derived classes implement stealError() and query(clientId). */
class KeyMapManager {
  constructor(keyMap) {
    this.keyMap = keyMap
  }

  /** Resolves to a Releaser, or to undefined if `ifAvailable` is set and the lock is not available. */
  async acquire(name, wish) {
    const release = await this.take(name, wish)
    // Remove the methods that only a read-write lock has.
    delete release?.downgrade
    return release
  }

  async take(name, { ifAvailable, mode, signal, steal, priority, timeout }) {
    if (steal) throw this.stealError()
    const limits = { priority, signal, timeout, ifAvailable }
    const isShared = modeNames[mode] === 'shared'
    return await this.keyMap.with(name, (lock) =>
      isShared ? lock.acquireRead(limits) : lock.acquireWrite(limits),
    )
  }

  async request(name, wish, callback) {
    const release = await this.take(name, wish)
    if (release === undefined) return callback(null)
    checkInTime(release, wish.signal)
    try {
      return await this.run(makeLock({ name, mode: wish.mode }, release), callback, release)
    } finally {
      release()
    }
  }

  run(lock, callback) {
    return callback(lock)
  }
}

module.exports = { KeyMapManager }
