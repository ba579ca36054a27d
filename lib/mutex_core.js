'use strict'
// A mutex for promises. JavaScript makes two steps of its word (see src/mutex.h): free to held by
// us, and held by us with nobody waiting to free. C++ makes all others.
const { Core, kindOf } = require('./core.js')
const { lockError } = require('./errors.js')
const native = require('./load.js')
const { checkCallback, readWait } = require('./options.js')
const { dressed } = require('./releaser.js')
const { agent, granted, grantedAbandoned, takeNews, Waiter } = require('./waiters.js')
const { endGrantAt, grantAt, indexOf } = require('./words.js')

const free = 0
const ownerShift = 2
const held = agent << ownerShift
const notGranted = -3
const done = Promise.resolve()

class MutexCore extends Core {
  constructor() {
    super(free)
    this.ended = 0
  }

  /** The number of the current grant: a releaser with another one is stale. */
  grant() {
    return this.isShared ? grantAt(this.place) : this.ended
  }

  endGrant() {
    if (this.isShared) endGrantAt(this.place)
    else this.ended++
  }

  owner() {
    return this.read() >>> ownerShift
  }

  isLocked() {
    return this.owner() !== 0
  }

  /** Locked at once, if it is free and nobody waits. */
  take() {
    if (this.words === null) {
      if (this.word !== free) return false
      this.word = held
      return true
    }
    return this.isShared && this.change(free, held)
  }

  change(from, to) {
    return Atomics.compareExchange(this.words, indexOf(this.place), from, to) === from
  }

  /** take, or a word that is free but not 0: its last holder died, or one from elsewhere was invited. */
  tryLock() {
    if (this.take()) return true
    return isGranted(this.tryNow())
  }

  tryNow() {
    return this.isLocked() ? notGranted : native.mutexTryLock(this.place)
  }

  /** Blocks this thread. */
  lockSync(timeout) {
    if (this.take()) return
    // No race: an agent becomes the owner, and ceases to be it, by its own calls only.
    if (this.owner() === agent) {
      const held = `${this.title()} is held by this thread already, which would wait for itself`
      throw lockError('ERR_LOCK_DEADLOCK', held)
    }
    if (native.mutexStands(this.place)) {
      const ahead = `a promise of this thread waits for ${this.title()}, and could not go on`
      throw lockError('ERR_LOCK_DEADLOCK', ahead)
    }
    const outcome = native.mutexLockSync(this.place, timeout)
    // Giving up may have let in a promise of ours.
    this.dispatch(native.news())
    if (!isGranted(outcome)) throw this.timeoutError(timeout)
  }

  lock(options) {
    if (options === undefined && this.take()) return done
    return this.enterLine(1, readWait(options), Locker)
  }

  acquire(options) {
    if (options === undefined && this.take()) return Promise.resolve(releaser(this, false))
    return this.enterLine(1, readWait(options), Acquirer)
  }

  tryAcquire() {
    if (this.take()) return releaser(this, false)
    const outcome = this.tryNow()
    return isGranted(outcome) ? releaser(this, outcome === grantedAbandoned) : undefined
  }

  async runExclusive(callback, options) {
    checkCallback(callback)
    let grant
    if (options === undefined && this.take()) {
      grant = this.grant()
      await done
    } else {
      grant = await this.enterLine(1, readWait(options), Runner)
    }
    try {
      return await callback()
    } finally {
      // Unless somebody has ended it before: release() ends whatever grant there is.
      if (this.grant() === grant) this.unlock()
    }
  }

  unlock() {
    if (this.words === null) {
      if (this.word !== held) throw this.notHeld()
      this.word = free
    } else if (!(this.isShared && this.change(held, free))) {
      this.unlockInLine()
      return
    }
    this.endGrant()
    if (this.watchers !== null) this.tell(1, undefined)
    if (this.home !== null) this.rest()
  }

  unlockInLine() {
    const count = native.mutexUnlock(this.place)
    if (count < 0) throw this.notHeld()
    this.endGrant()
    this.dispatch(count)
  }

  notHeld() {
    return lockError('ERR_LOCK_NOT_HELD', `${this.title()} is not held by this thread`)
  }

  release() {
    if (this.isLocked()) this.unlock()
  }

  dispatch(count) {
    if (count > 0) takeNews(count)
    if (this.watchers !== null && !this.isLocked()) this.tell(1, this.topPriority())
    this.calm()
  }

  admit(waiter, abandoned) {
    if (this.watchers !== null) this.tell(1, waiter.priority())
    waiter.resolve(waiter.constructor.value(this, 1, abandoned))
  }

  hasRoom() {
    return !this.isLocked()
  }

  waitForUnlock(options) {
    return this.watch(1, readWait(options))
  }

  /** waitForUnlock where other threads may unlock: through the line, without a stop. */
  passThrough(limits) {
    if (!this.isLocked() && !this.hasLine()) return Promise.resolve()
    return this.enterLine(1, limits, Passer)
  }

  /** Out again, in the same turn. A death that we were told of is for the next one. */
  pass(abandoned) {
    if (!abandoned) {
      this.unlock()
      return
    }
    this.endGrant()
    this.dispatch(native.mutexAbandon(this.place))
  }
}

Object.assign(MutexCore.prototype, { kind: kindOf('mutex'), idle: free })

function isGranted(outcome) {
  return outcome === granted || outcome === grantedAbandoned
}

class Locker extends Waiter {
  static value() {}
}

class Runner extends Waiter {
  static value(core) {
    return core.grant()
  }
}

class Passer extends Waiter {
  static value(core, _weight, abandoned) {
    core.pass(abandoned)
  }
}
Passer.prototype.isToStay = true

class Acquirer extends Waiter {
  static value(core, _weight, abandoned) {
    return releaser(core, abandoned)
  }
}

function releaser(core, abandoned) {
  const grant = core.grant()
  const release = () => {
    if (core.grant() === grant) core.unlock()
  }
  return dressed(release, abandoned)
}

module.exports = { MutexCore }
