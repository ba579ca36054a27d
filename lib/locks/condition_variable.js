'use strict'
const { LocalCondition } = require('../core/condition.js')
const { kind: mutexKind } = require('./mutex.js')
const { isOfKind } = require('./receiver.js')
const { readSyncWait } = require('../core/options.js')
const { blockingCoreOf, coreOf, kindOf, Single, single } = require('./single.js')

const kind = {
  class: 'ConditionVariable',
  base: single,
  name: 'condition variable',
  bytes: 4,
  local: () => new LocalCondition(),
  shared: () => require('../process/condition_core.js').ConditionCore,
}

class ConditionVariable extends Single {
  constructor(options = {}) {
    super(kind, [], options)
  }

  wait(mutex, options) {
    const own = coreOf(this, kind, 'wait')
    return own.wait(checkedCore(own, mutex), options)
  }

  waitSync(mutex, options) {
    const own = blockingCoreOf(this, kind, 'waitSync')
    own.waitSync(checkedCore(own, mutex), readSyncWait(options))
  }

  notifyOne() {
    coreOf(this, kind, 'notifyOne').notify(false)
  }

  notifyAll() {
    coreOf(this, kind, 'notifyAll').notify(true)
  }
}

/** Of `mutex`, which is the user's: it may be anything. */
function checkedCore(own, mutex) {
  if (!isOfKind(kindOf(mutex), mutexKind)) throw new TypeError('mutex must be a Mutex')
  const core = coreOf(mutex, mutexKind)
  if (core.share?.isAfar) {
    throw new TypeError(`${core.title()} is of scope 'host': ${own.title()} is not`)
  }
  if (core.comeBack === undefined) {
    throw new TypeError(
      `${core.title()} is one of an engine: no condition can be waited for with it`,
    )
  }
  if ((own.share === null) !== (core.share === null)) {
    const [one, other] = own.share === null ? [core, own] : [own, core]
    throw new TypeError(`${one.title()} is shared by threads, and ${other.title()} is not`)
  }
  return core
}

module.exports = { ConditionVariable }
