'use strict'
const { ConditionCore } = require('./condition_core.js')
const { Mutex } = require('./mutex.js')
const { MutexCore } = require('./mutex_core.js')
const { readSyncWait } = require('./options.js')
const { blockingCoreOf, coreOf, Single } = require('./single.js')

const kind = { name: 'condition variable', bytes: 4, shared: () => new ConditionCore() }

class ConditionVariable extends Single {
  constructor(options = {}) {
    super(kind, [], options)
  }

  wait(mutex, options) {
    return coreOf(this).wait(mutexCoreOf(mutex), options)
  }

  waitSync(mutex, options) {
    blockingCoreOf(this, 'waitSync').waitSync(mutexCoreOf(mutex), readSyncWait(options))
  }

  notifyOne() {
    coreOf(this).notify(false)
  }

  notifyAll() {
    coreOf(this).notify(true)
  }
}

/** `mutex` is the user's: it may be anything. */
function mutexCoreOf(mutex) {
  if (mutex instanceof Mutex) {
    const core = coreOf(mutex)
    if (core instanceof MutexCore) return core
    throw new TypeError(
      `${core.title()} is one of an engine: no condition can be waited for with it`,
    )
  }
  throw new TypeError('mutex must be a Mutex')
}

module.exports = { ConditionVariable }
