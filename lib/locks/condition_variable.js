'use strict'
const { LocalCondition } = require('../core/condition.js')
const { checkUnranked } = require('./gate.js')
const { kind: mutexKind } = require('./mutex.js')
const { kindError } = require('../core/errors.js')
const { isOfKind } = require('../core/receiver.js')
const { readSyncWait } = require('../core/options.js')
const { blockingLockOf, kindOf, lockOf } = require('./base.js')
const { Single, single } = require('./single.js')

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
    const own = lockOf(this, kind, 'wait')
    checkUnranked(options)
    return own.wait(checkedLock(own, mutex), options)
  }

  waitSync(mutex, options) {
    const own = blockingLockOf(this, kind, 'waitSync')
    checkUnranked(options)
    own.waitSync(checkedLock(own, mutex), readSyncWait(options))
  }

  notifyOne() {
    lockOf(this, kind, 'notifyOne').notify(false)
  }

  notifyAll() {
    lockOf(this, kind, 'notifyAll').notify(true)
  }
}

/** Returns the lock of `mutex`, a caller's argument. Throws unless it is a Mutex of the same scope as `own`. */
function checkedLock(own, mutex) {
  if (!isOfKind(kindOf(mutex), mutexKind)) throw kindError('mutex must be a Mutex', mutex)
  const lock = lockOf(mutex, mutexKind)
  if (lock.reacquire === undefined) {
    throw new TypeError(
      `${lock.title()} lives in an engine, which has no condition variables: use a Mutex of a process`,
    )
  }
  const isHost = lock.shared?.isHost === true
  if (isHost !== (own.shared?.isHost === true)) {
    const [one, other] = isHost ? [lock, own] : [own, lock]
    throw new TypeError(`${one.title()} is of scope 'host': ${other.title()} is not`)
  }
  if ((own.shared === null) !== (lock.shared === null)) {
    const [one, other] = own.shared === null ? [lock, own] : [own, lock]
    throw new TypeError(`${one.title()} is shared by threads, and ${other.title()} is not`)
  }
  return lock
}

module.exports = { ConditionVariable }
