'use strict'
const { LocalCondition } = require('./core/condition.js')
const { LocalMutex } = require('./core/mutex.js')
const { Mutex } = require('./mutex.js')
const { readSyncWait } = require('./options.js')
const { blockingCoreOf, coreOf, Single } = require('./single.js')

const shared = () => new (require('./condition_core.js').ConditionCore)()
const kind = {
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
    const core = this.#mutexCore(mutex)
    return this.#coreFor(core).wait(core, options)
  }

  waitSync(mutex, options) {
    blockingCoreOf(this, 'waitSync')
    const core = this.#mutexCore(mutex)
    this.#coreFor(core).waitSync(core, readSyncWait(options))
  }

  notifyOne() {
    if (!this.#watched?.notify(false)) coreOf(this).notify(false)
  }

  notifyAll() {
    this.#watched?.notify(true)
    coreOf(this).notify(true)
  }

  /** Of `mutex`, which is the user's: it may be anything. */
  #mutexCore(mutex) {
    if (!(mutex instanceof Mutex)) throw new TypeError('mutex must be a Mutex')
    const own = coreOf(this)
    const core = coreOf(mutex)
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

  #coreFor(mutexCore) {
    const own = coreOf(this)
    if (!(own instanceof LocalCondition) || mutexCore instanceof LocalMutex) return own
    this.#watched ??= shared()
    return this.#watched
  }
}

module.exports = { ConditionVariable }
