'use strict'
const { blockingCoreOf, coreOf, Single } = require('./single.js')

const kind = {
  name: 'recursive mutex',
  bytes: 4,
  // Loaded when the first is constructed: AsyncLocalStorage costs every promise on Node 20 and 22.
  local: () => new (require('./recursive_core.js').LocalRecursive)(),
  shared: () => new (require('./recursive_shared_core.js').RecursiveCore)(),
}

class RecursiveMutex extends Single {
  constructor(options = {}) {
    super(kind, [], options)
  }

  // Forms with a callback only. What acquire() gave its caller could not be in the caller's context: what
  // AsyncLocalStorage.enterWith sets there stays, and is seen by the siblings that the caller starts after
  // it has released. They would count as holders, and a lock that lets two in is worse than none.

  runExclusive(callback, options) {
    return coreOf(this).runExclusive(callback, options)
  }

  executeLocked(callback, options) {
    return coreOf(this).runExclusive(callback, options)
  }

  runExclusiveSync(callback, options) {
    return blockingCoreOf(this, 'runExclusiveSync').runExclusiveSync(callback, options)
  }

  isLocked() {
    return coreOf(this).isLocked()
  }

  isHeld() {
    return coreOf(this).isHeld()
  }

  cancel(reason) {
    coreOf(this).cancel(reason)
  }

  snapshot() {
    return coreOf(this).snapshot()
  }
}

module.exports = { RecursiveMutex }
