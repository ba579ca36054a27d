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
  isGate: true,
  bytes: 4,
  local: () => new LocalCondition(),
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

/** The core of `mutex`. The argument comes from the user, so it may be anything. */
function checkedCore(own, mutex) {
  if (!isOfKind(kindOf(mutex), mutexKind)) throw new TypeError('mutex must be a Mutex')
  const core = coreOf(mutex, mutexKind)
  if (core.comeBack === undefined) {
    throw new TypeError(
      `${core.title()} lives in an engine, which has no condition variables: use a Mutex of a process`,
    )
  }
  const isAfar = core.share?.isAfar === true
  if (isAfar !== (own.share?.isAfar === true)) {
    const [one, other] = isAfar ? [core, own] : [own, core]
    throw new TypeError(`${one.title()} is of scope 'host': ${other.title()} is not`)
  }
  if ((own.share === null) !== (core.share === null)) {
    const [one, other] = own.share === null ? [core, own] : [own, core]
    throw new TypeError(`${one.title()} is shared by threads, and ${other.title()} is not`)
  }
  return core
}

module.exports = { ConditionVariable }
