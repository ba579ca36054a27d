'use strict'
// A mutex that processes share, for promises. JavaScript makes two steps of its word (src/host/owner_word.h): free to held
// by us, and held by us to free. C++ makes all others.
const { Core } = require('../process/core.js')
const { inSegment } = require('./in_segment.js')
const { lockError } = require('../core/errors.js')
const { checkCallback, readWait } = require('../core/options.js')
const { dressed, unseen } = require('../core/releaser.js')
const { checkStack, checkStackToRelease } = require('../core/stack.js')
const { grantedAbandoned, isGranted, notGranted, Waiter } = require('../process/waiters.js')
const { indexOf } = require('../process/words.js')
const native = require('../load.js')

const free = 0
const ownerShift = 2
/** Free for the invited head of the queue, which is on its way. */
const invited = 1
/** In the high half of the word: a waiter is strictly first come, first served. */
const strict = 1 << 28
const done = Promise.resolve()

/** Every grant of this thread has a number of its own. */
let lastGrant = 0

class MutexCore extends inSegment(Core) {
  constructor(segment) {
    super(segment, free)
    /** The word while this thread holds the mutex, and no other process waits. */
    this.held = segment.held
    this.self = segment.held >>> ownerShift
  }

  /** The number of the current grant: a releaser with another one is stale. */
  grant() {
    return this.share.current
  }

  endGrant() {
    lastGrant = (lastGrant + 1) | 0 // a small integer for ever; by the next round none is left of this
    this.share.current = lastGrant
    this.share.isHeld = false
  }

  owner() {
    return this.read() >>> ownerShift
  }

  isLocked() {
    return this.owner() !== 0
  }

  /** Whether this thread has a part in it. */
  isOurs() {
    return this.share.waiting > 0 || this.owner() === this.self
  }

  isOutOfOurHands() {
    return !this.share.isHeld
  }

  /** What C++ has granted. */
  began() {
    this.share.isHeld = true
  }

  observeEntry({ prototype }, isAbandoned) {
    if (!prototype.isToStay) this.observeGrant('exclusive', 1, isAbandoned)
  }

  /** The holder of this thread, if there is one, is about to let go. Whether it has not done so meanwhile. */
  observeEnd() {
    const grant = this.grant()
    if (this.observer !== null) this.observer.ended(this.observer.latest, 1)
    return this.grant() === grant
  }

  /** Locked at once, if it is free and no waiter of this thread is queued. */
  take() {
    if (this.segment.whyGone !== undefined || !this.takeWord()) return false
    if (this.observer !== null) this.observeGrant('exclusive', 1, false)
    return true
  }

  takeWord() {
    const { share } = this
    if (!this.change(free, this.held) && !this.overtake(share)) return false
    share.isHeld = true
    return true
  }

  /** Takes a free word before the invited head of the queue, a waiter of another process that is not `strict`. */
  overtake(share) {
    const highHalf = Atomics.load(this.words, indexOf(this.place) + 1)
    return (
      (highHalf & strict) === 0 && share.waiting === 0 && this.change(invited, this.held | invited)
    )
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
    this.checkThere()
    if (this.isLocked()) return notGranted
    // Not before one of our own, which may be on its way.
    if (this.hasLine() && this.kind.native.stands(this.place)) return notGranted
    const outcome = this.tryEnter(1)
    if (this.observer !== null && isGranted(outcome)) {
      this.observeGrant('exclusive', 1, outcome === grantedAbandoned)
    }
    return outcome
  }

  /** Blocks this thread. Whether the last holder died with it. */
  lockSync(limits) {
    checkStack()
    if (this.take()) return false
    // No race: an agent becomes the owner, and ceases to be it, by its own calls only.
    if (this.owner() === this.self) {
      const held = `${this.title()} is held by this thread already, which would wait for itself`
      throw lockError('ERR_LOCK_DEADLOCK', held)
    }
    if (this.kind.native.stands(this.place)) {
      const ahead = `a promise of this thread waits for ${this.title()}, and could not go on`
      throw lockError('ERR_LOCK_DEADLOCK', ahead)
    }
    const isAbandoned = this.enterSync(1, limits) === grantedAbandoned
    if (this.observer !== null) this.observeGrant('exclusive', 1, isAbandoned)
    return isAbandoned
  }

  acquireSync(limits) {
    return this.takeNow() ?? releaser(this, this.lockSync(limits))
  }

  runExclusiveSync(callback, limits) {
    checkCallback(callback)
    checkStack()
    const grant = this.grant()
    this.lockSync(limits)
    try {
      return callback()
    } finally {
      if (this.grant() === grant) this.unlock()
    }
  }

  lock(options) {
    if (options === undefined && this.take()) return this.taken()
    return this.enterLine(1, readWait(options), Locker)
  }

  /** A promise for a caller that did not wait, which is its own if an observer asks for that. */
  taken() {
    const isOwn = this.observer?.tellsApart
    return isOwn ? this.given(Promise.resolve()) : done
  }

  acquire(options) {
    if (options === undefined) {
      const release = this.takeNow()
      if (release !== undefined) return this.given(Promise.resolve(release))
    }
    return this.enterLine(1, readWait(options), Acquirer)
  }

  /** A releaser where take() succeeds. */
  takeNow() {
    checkStack()
    return this.take() ? releaser(this, false) : undefined
  }

  tryAcquire() {
    const release = this.takeNow()
    if (release !== undefined) return release
    const outcome = this.tryNow()
    return isGranted(outcome) ? releaser(this, outcome === grantedAbandoned) : undefined
  }

  async runExclusive(callback, options) {
    checkCallback(callback)
    let grant = this.grant()
    if (options === undefined && this.take()) {
      await this.taken()
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
    if (this.observer !== null && !this.observeEnd()) return
    const { share } = this
    // Not where it would only slow down what calls nothing once the word is free.
    if (this.home !== null) checkStackToRelease()
    if (!share.isHeld) {
      throw this.notHeld() // or ours, by a completion that has not come yet
    } else if (this.change(this.held, free)) {
      lastGrant = (lastGrant + 1) | 0
      share.current = lastGrant
      share.isHeld = false
    } else {
      checkStackToRelease()
      this.unlockInLine()
      return
    }
    if (this.home !== null) this.rest()
  }

  unlockInLine() {
    const count = this.kind.native.unlock(this.place)
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

  hasRoom() {
    return !this.isLocked()
  }

  waitForUnlock(options) {
    return this.passThrough(1, readWait(options))
  }

  /** Out again, in the same turn. A death that we were told of is for the next one. */
  passNow(_weight, abandoned) {
    if (abandoned) this.disown()
    else this.unlockInLine()
  }

  /** Whoever holds it was told of a death, and did not hear of it. */
  disown() {
    this.observeEnd()
    this.endGrant()
    this.dispatch(this.kind.native.abandon(this.place))
  }
}

MutexCore.prototype.kind = { name: 'mutex', native: native.hostMutex }

class Locker extends Waiter {
  static value() {}
}

class Runner extends Waiter {
  static value(core) {
    return core.grant()
  }
}

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
  if (abandoned) {
    release[unseen] = () => {
      if (core.grant() !== grant) return
      checkStackToRelease()
      core.disown()
    }
  }
  if (core.observer !== null) core.observer.gave(release)
  if (core.dress === null) return dressed(release, abandoned)
  return core.dress(release, abandoned, () => core.grant() === grant)
}

module.exports = { MutexCore }
