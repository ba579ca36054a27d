'use strict'
// A mutex for promises. JavaScript makes two steps of its word (see src/mutex.h): free to held by
// us, and held by us with nobody waiting to free. C++ makes all others.
const { Core, kindOf } = require('./core.js')
const { lockError } = require('./errors.js')
const native = require('./load.js')
const { checkCallback, readWait } = require('./options.js')
const { dressed } = require('./releaser.js')
const { agent, granted, grantedAbandoned, takeNews } = require('./waiters.js')

const kind = kindOf('mutex')
const free = 0
const ownerShift = 2
const held = agent << ownerShift
const done = Promise.resolve()

class MutexCore extends Core {
  constructor(home = null) {
    super(kind, home)
    // How many grants of this agent are over: a releaser whose grant is not the current one is stale.
    this.grant = 0
  }

  owner() {
    return Atomics.load(this.words, this.index) >>> ownerShift
  }

  isLocked() {
    return this.owner() !== 0
  }

  isIdle() {
    const { words, index, watchers, pins } = this
    return Atomics.load(words, index) === free && watchers === null && pins === 0
  }

  /** Locked at once, if it is free and nobody waits. */
  take() {
    return Atomics.compareExchange(this.words, this.index, free, held) === free
  }

  /** take, or a word that is free but not 0: its last holder died, or one from elsewhere was invited. */
  tryLock() {
    return (
      this.take() || (!this.isLocked() && isGranted(native.mutexTryLock(this.region, this.index)))
    )
  }

  /** Blocks this thread. */
  lockSync(timeout) {
    if (this.take()) return
    // No race: an agent becomes the owner, and ceases to be it, by its own calls only.
    if (this.owner() === agent) {
      const held = `${this.title()} is held by this thread already, which would wait for itself`
      throw lockError('ERR_LOCK_DEADLOCK', held)
    }
    const outcome = native.mutexLockSync(this.region, this.index, timeout)
    if (!isGranted(outcome)) throw this.timeoutError(timeout)
  }

  lock(options) {
    if (options === undefined && this.take()) return done
    return this.enterLine(1, readWait(options), nothing)
  }

  acquire(options) {
    if (options === undefined && this.take()) return Promise.resolve(releaser(this, false))
    return this.enterLine(1, readWait(options), releaserOf)
  }

  tryAcquire() {
    return this.tryLock() ? releaser(this, false) : undefined
  }

  enter(weight, priority) {
    return this.take() ? granted : super.enter(weight, priority)
  }

  async runExclusive(callback, options) {
    checkCallback(callback)
    if (options === undefined && this.take()) {
      await done
    } else {
      await this.enterLine(1, readWait(options), nothing)
    }
    const { grant } = this
    try {
      return await callback()
    } finally {
      if (this.grant === grant) this.unlock()
    }
  }

  unlock() {
    if (Atomics.compareExchange(this.words, this.index, held, free) !== held) {
      this.unlockInLine()
      return
    }
    this.grant++
    if (this.watchers !== null) this.tell(1, undefined)
    if (this.home !== null && this.isIdle()) this.home.drop(this)
  }

  unlockInLine() {
    if (this.owner() !== agent) {
      throw lockError('ERR_LOCK_NOT_HELD', `${this.title()} is not held by this thread`)
    }
    this.grant++
    this.dispatch(native.mutexUnlock(this.region, this.index))
  }

  release() {
    if (this.isLocked()) this.unlock()
  }

  dispatch(count) {
    if (count > 0) takeNews(count, admit)
    if (this.watchers !== null && !this.isLocked()) this.tell(1, this.topPriority())
    if (this.home !== null && this.isIdle()) this.home.drop(this)
  }

  admit(waiter, abandoned) {
    admit(waiter, abandoned)
  }

  hasRoom() {
    return !this.isLocked()
  }

  waitForUnlock(options) {
    return this.watch(1, readWait(options))
  }
}

function isGranted(outcome) {
  return outcome === granted || outcome === grantedAbandoned
}

function admit(waiter, abandoned) {
  const { core } = waiter
  if (core.watchers !== null) core.tell(1, waiter.priority)
  waiter.resolve(waiter.settled(core, 1, abandoned))
}

function nothing() {}

function releaserOf(core, _weight, abandoned) {
  return releaser(core, abandoned)
}

function releaser(core, abandoned) {
  const { grant } = core
  const release = () => {
    if (core.grant === grant) core.unlock()
  }
  return dressed(release, abandoned)
}

module.exports = { MutexCore }
