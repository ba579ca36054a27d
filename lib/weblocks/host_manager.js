'use strict'
// The lock manager of all processes of this machine.
const { titleOf } = require('../core/keys.js')
const { LazySignal } = require('../core/lazy_signal.js')
const { defineLazy } = require('../core/releaser.js')
const { hostKeyMapOf } = require('../host/locks.js')
const { KeyMapManager } = require('./key_map_manager.js')
const { notSupported } = require('./request_options.js')

class HostManager extends KeyMapManager {
  constructor(host, times) {
    const traits = { hasDiagnostics: false, title }
    super(hostKeyMapOf('read-write lock', 0, { host, times }, traits, 'lock manager'))
    this.keyMap.keepFor(this)
  }

  stealError() {
    return notSupported("a lock of scope 'host' cannot be stolen: request it without steal")
  }

  async take(name, wish) {
    const release = await super.take(name, wish)
    if (release === undefined || Object.hasOwn(release, 'signal')) return release
    // Without hold times it is never lost. It has a signal because grants of other scopes have one.
    const loss = new LazySignal()
    return defineLazy(release, 'signal', () => loss.signal)
  }

  /**
   * Returns an entry for each process that holds a lock or waits for it. The segment does not record the mode that a
   * waiter requests.
   */
  query() {
    const snapshot = { held: [], pending: [] }
    for (const { key, written, holderPids, waiterPids } of this.keyMap.snapshot()) {
      const name = String(key) // a CutKey gives only the beginning of the name
      const mode = written ? 'exclusive' : 'shared'
      for (const pid of holderPids) {
        snapshot.held.push({ name, mode, clientId: `node-${pid}` })
      }
      for (const pid of waiterPids) snapshot.pending.push({ name, clientId: `node-${pid}` })
    }
    return snapshot
  }
}

/** Makes error messages call the map's read-write lock a lock, the caller's term. */
function title() {
  return titleOf('lock', this)
}

module.exports = { HostManager }
