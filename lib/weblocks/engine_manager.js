'use strict'
// The lock manager over an engine.
const { keyMapOver } = require('../cluster/open.js')
const { listen, reasonOf } = require('../core/abort.js')
const { KeyMapManager } = require('./key_map_manager.js')
const { notSupported } = require('./request_options.js')

class EngineManager extends KeyMapManager {
  constructor(engine, name, times) {
    super(keyMapOver({ engine, name, isStrict: false, times }, 'lock', ''))
  }

  stealError() {
    return notSupported('a lock over an engine cannot be stolen: request it without steal')
  }

  /** Runs `callback` with the lock. Rejects at once when the lock is lost. */
  run(lock, callback, { signal }) {
    return new Promise((resolve, reject) => {
      listen(signal, () => reject(reasonOf(signal)))
      // An async function, so that an error thrown by `callback` rejects.
      const run = async () => callback(lock)
      run().then(resolve, reject)
    })
  }

  /** Returns the held locks and the pending requests of this thread. */
  query(clientId) {
    const snapshot = { held: [], pending: [] }
    for (const lock of this.keyMap.busy()) {
      for (const { isIn, mode } of lock.callers) {
        const list = isIn ? snapshot.held : snapshot.pending
        list.push({ name: lock.key, mode, clientId })
      }
    }
    return snapshot
  }
}

module.exports = { EngineManager }
