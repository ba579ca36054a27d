'use strict'
// A read-write lock of scope host with `maxHold` and `minHold`. Each hold ends after `maxHold`. For at least `minHold`, a
// writer excludes all others, and a reader excludes writers.
//
//   held      since the grant. After `maxHold` the lock ends the hold
//   resting   released before the end of `minHold`: this process keeps the lock until then
//
// The slot stores two ends: of the last writer's minHold, and of the last reader's. A living process keeps the lock
// until the end of its own minHold. So a grant before a stored end means that the holder died: the caller gives the
// lock back, and acquires it again at that end.
const { lockError } = require('../core/errors.js')
const { acquireOptions, readWait } = require('../core/options.js')
const { undelivered } = require('../core/releaser.js')
const { grantKey } = require('../core/rw_releaser.js')
const native = require('../addon/load.js')
const { HostRWLock } = require('./shared_locks.js')
const { Sleepers } = require('./sleepers.js')
const { acquireInTime, at, blockedError, isEarly, timed, TimedHold } = require('./timed_hold.js')

const { now } = native.clock

/** The offset of the two ends in an RWLockSlot (src/host/layout.h), in words. */
const restAt = native.layout.host.writeRest
// The indexes of the two ends, which take two words each.
const writeRest = 0
const readRest = (native.layout.host.readRest - restAt) / 2
/** The lowest bit of an end: the writer had released, so its death is not reported. */
const released = BigInt(native.layout.host.released)
/** The time of an end begins at this bit. The bits below tell ends of one millisecond apart: see #mark(). */
const timeAt = BigInt(native.layout.host.restAt)

class RWHold extends TimedHold {
  /** If the grant is early: how many ms the minHold of the dead holder still lasts. */
  wait = 0
  /** The end that this hold has stored in the slot, and the end that was there before. */
  mark = 0n
  former = 0n
}

class TimedRWLock extends HostRWLock {
  #minHold
  /** Whether a maxHold ends each hold. */
  #hasEnd
  #ends
  /** The hold of a reader of this thread, by the end that its own one has replaced. */
  #followers = new Map()
  #sleepers = new Sleepers(this)

  constructor(segment) {
    super(segment)
    const { minHold = 0, maxHold = Infinity } = segment.times
    this.#minHold = minHold
    this.#hasEnd = maxHold !== Infinity
  }

  attach(findIndex) {
    super.attach(findIndex)
    if (this.#minHold === 0) return
    const { buffer } = native.host.slot(this.wordIndex)
    this.#ends = new BigInt64Array(buffer, 4 * restAt, 2)
  }

  /** Timers of this thread, too, end holds (maxHold) and rests (minHold). */
  canBeGrantedElsewhere() {
    return this.#hasEnd || this.shared.rests > 0 || super.canBeGrantedElsewhere()
  }

  acquireRead(options) {
    return this.#acquire((limits) => super.acquireRead(limits), options)
  }

  acquireWrite(options) {
    return this.#acquire((limits) => super.acquireWrite(limits), options)
  }

  #acquire(acquire, options) {
    const limits = readWait(options, acquireOptions)
    if (this.#minHold === 0) return acquire(limits)
    const pause = (release, left) => this.#sleepers.sleep(release[timed].wait, left)
    return acquireInTime(this, limits, acquire, pause)
  }

  cancel(reason) {
    super.cancel(reason)
    this.#sleepers.endAll(reason)
  }

  tryNow(ask) {
    const release = super.tryNow(ask)
    if (!isEarly(release)) return release
    release[undelivered]()
    return undefined
  }

  acquireSync() {
    throw blockedError(this)
  }

  addToken(release, isGood, isWriter) {
    const grant = release[grantKey]
    const hold = new RWHold(this, this.segment.times)
    grant[timed] = hold
    release[timed] = hold
    if (this.#minHold > 0) this.#beginRest(release, hold, isWriter)
    hold.begin(() => this.#expire(grant, isWriter))
    return hold.addSignal(super.addToken(release, isGood), isGood)
  }

  #beginRest(release, hold, isWriter) {
    const grant = release[grantKey]
    const last = Atomics.load(this.#ends, writeRest)
    if ((last & released) !== 0n) release.abandoned = false
    const { abandoned } = release
    hold.wait = this.#restOfDead(last, isWriter)
    hold.isEarly = hold.wait > 0
    if (!hold.isEarly) this.#mark(hold, isWriter ? writeRest : readRest)
    release[undelivered] = () => {
      if (grant.isOver) return
      this.#unmark(hold, isWriter, hold.former)
      if (!isWriter) this.#skip(hold)
      // Another reader may store an equal end from now on, which the release must not take back.
      hold.mark = 0n
      hold.until = 0
      if (abandoned) this.abandon(grant, isWriter)
      else release()
    }
  }

  /** Returns how many ms a new holder must wait because of the minHold of dead holders. */
  #restOfDead(write, isWriter) {
    const read = isWriter ? Atomics.load(this.#ends, readRest) : 0n
    const until = Math.max(this.#limit(writeRest, write), this.#limit(readRest, read))
    const left = until - now()
    if (left > 0) return left
    // These ends are over: clear them, so that the slot counts as unused.
    if (write !== 0n) Atomics.compareExchange(this.#ends, writeRest, write, 0n)
    if (read !== 0n) Atomics.compareExchange(this.#ends, readRest, read, 0n)
    return 0
  }

  /**
   * Returns the time of a stored `end`, at most a minHold of this lock from now: the dead process may have had a longer
   * minHold, and another process may have corrupted the slot. Stores the limited end, so that no caller waits for the
   * later one.
   */
  #limit(index, end) {
    const until = Number(end >> timeAt)
    const latest = Math.ceil(now() + this.#minHold)
    if (until <= latest) return until
    Atomics.compareExchange(this.#ends, index, end, (BigInt(latest) << timeAt) | (end & released))
    return latest
  }

  /**
   * Stores the end of `hold`. It is greater than the stored one, even in the same millisecond, so no two holds have one
   * end, and the stored end covers all readers: #unmark() takes back no other one.
   */
  #mark(hold, end) {
    let known = Atomics.load(this.#ends, end)
    do {
      hold.former = known
      hold.until = Math.ceil(now() + this.#minHold)
      hold.mark = BigInt(hold.until) << timeAt
      if (hold.mark <= known) hold.mark = (known & ~released) + 2n * released
      known = Atomics.compareExchange(this.#ends, end, hold.former, hold.mark)
    } while (known !== hold.former)
    if (end === readRest) this.#followers.set(hold.former, hold)
  }

  /** Called if no caller gets `hold`. Then a later reader which gives its end up must not bring the end of `hold` back. */
  #skip({ mark, former }) {
    const follower = this.#followers.get(mark)
    if (follower === undefined) return
    this.#followers.delete(mark)
    this.#followers.set(former, follower)
    follower.former = former
  }

  /** Replaces the end of this hold by `next`, unless a later reader has stored its own end. */
  #unmark({ mark, former }, isWriter, next) {
    if (mark === 0n) return
    if (!isWriter) this.#followers.delete(former)
    Atomics.compareExchange(this.#ends, isWriter ? writeRest : readRest, mark, next)
  }

  #expire(grant, isWriter) {
    if (grant.isOver) return
    this.#unmark(grant[timed], isWriter, 0n)
    // A reader leaves nothing half written, so the next grant after it is not abandoned.
    if (isWriter) this.abandon(grant, true)
    else this.endRead(grant)
  }

  /** After an upgrade or a downgrade the times begin with the new grant. */
  endGrant(grant) {
    grant[timed].stop()
    super.endGrant(grant)
  }

  letGo(grant, isWriter) {
    const hold = grant[timed]
    if (hold.until > now()) {
      this.#rest(hold, isWriter)
      return
    }
    this.#unmark(hold, isWriter, 0n)
    super.letGo(grant, isWriter)
  }

  /** Begins a rest: no caller holds the lock, but this process keeps it. */
  #rest(hold, isWriter) {
    this.endedHold(isWriter)
    if (isWriter) {
      const mark = hold.mark | released
      this.#unmark(hold, true, mark)
      hold.mark = mark
    }
    this.shared.rests++
    this.changed()
    at(hold.until, () => {
      this.shared.rests--
      this.#unmark(hold, isWriter, 0n)
      this.dispatch(this.unlock(isWriter))
    })
  }

  upgrade(grant, limits) {
    if (this.#minHold > 0) return Promise.reject(this.#changeError('upgrade'))
    return super.upgrade(grant, limits)
  }

  tryUpgrade(grant) {
    if (this.#minHold > 0) throw this.#changeError('upgrade')
    return super.tryUpgrade(grant)
  }

  upgradeSync() {
    throw blockedError(this)
  }

  downgrade(grant) {
    if (this.#minHold > 0) throw this.#changeError('downgrade')
    return super.downgrade(grant)
  }

  #changeError(what) {
    const message = `${this.title()} has a minHold, and so no ${what}: release it, and acquire it in the other mode`
    return lockError('ERR_LOCK_UNSUPPORTED', message)
  }
}

module.exports = { TimedRWLock }
