'use strict'
const { LocalCondition } = require('../core/condition.js')
const { LocalMutex } = require('../core/mutex.js')
const { kind: mutexKind } = require('./mutex.js')
const { readSyncWait } = require('../core/options.js')
const { blockingCoreOf, coreOf, kindOf, Single, single } = require('./single.js')

const shared = () => new (require('../process/condition_core.js').ConditionCore)()
const kind = {
  class: 'ConditionVariable',
  base: single,
  name: 'condition variable',
  bytes: 4,
  local: () => new LocalCondition(),
  shared,
}

class ConditionVariable extends Single {
  /** For mutexes of this thread that are watched, which are no local locks yet. */
  #watched

  constructor(options = {}) {
    super(kind, [], options)
  }

  wait(mutex, options) {
    const own = coreOf(this, kind, 'wait')
    const core = checkedCore(own, mutex)
    return this.#coreFor(own, core).wait(core, options)
  }

  waitSync(mutex, options) {
    const own = blockingCoreOf(this, kind, 'waitSync')
    const core = checkedCore(own, mutex)
    this.#coreFor(own, core).waitSync(core, readSyncWait(options))
  }

  notifyOne() {
    const own = coreOf(this, kind, 'notifyOne')
    if (!this.#watched?.notify(false)) own.notify(false)
  }

  notifyAll() {
    const own = coreOf(this, kind, 'notifyAll')
    this.#watched?.notify(true)
    own.notify(true)
  }

  #coreFor(own, mutexCore) {
    if (!(own instanceof LocalCondition) || mutexCore instanceof LocalMutex) return own
    this.#watched ??= shared()
    return this.#watched
  }
}

/** Of `mutex`, which is the user's: it may be anything. */
function checkedCore(own, mutex) {
  if (kindOf(mutex) !== mutexKind) throw new TypeError('mutex must be a Mutex')
  const core = coreOf(mutex, mutexKind)
  if (core.comeBack === undefined) {
    throw new TypeError(
      `${core.title()} is one of an engine: no condition can be waited for with it`,
    )
  }
  if (core.share?.isAfar) {
    throw new TypeError(`${core.title()} is of scope 'host': ${own.title()} is not`)
  }
  if ((own.share === null) !== (core.share === null)) {
    const [one, other] = own.share === null ? [core, own] : [own, core]
    throw new TypeError(`${one.title()} is shared by threads, and ${other.title()} is not`)
  }
  return core
}

module.exports = { ConditionVariable }
