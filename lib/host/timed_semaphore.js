'use strict'
// A semaphore of scope host with `maxHold` and `minHold`: each hold ends after `maxHold`, and keeps its units for at least
// `minHold`.
//
//   held      since the grant. After `maxHold` the semaphore takes the units back
//   resting   released before the end of `minHold`: this process keeps the units until then
//   owed      a process died with units whose minHold may not be over. These units are free, so the next grants pay for
//             them: a grant subtracts up to its weight from `owed`, that many of its units rest, and its caller acquires
//             again
//
// `rest` in the slot is the end of the latest grant's minHold. By then all owed units have rested.
const { undelivered } = require('../core/releaser.js')
const { lockError } = require('../core/errors.js')
const native = require('../addon/load.js')
const { HostSemaphore } = require('./shared_locks.js')
const { acquireInTime, at, blockedError, isEarly, timed, TimedHold } = require('./timed_hold.js')

const { now } = native.clock

// Offsets in a SemaphoreSlot (src/host/layout.h), in words.
const { semaphoreOwed: owedAt, semaphoreRest: restAt } = native.layout.host

class UnitsHold extends TimedHold {
  /** If the grant is early: how many of its units must rest for a dead holder. */
  owed = 0
  /** The observer's record of the hold. */
  observed = undefined
}

class TimedSemaphore extends HostSemaphore {
  #minHold
  #slot
  #rest

  constructor(segment, start) {
    super(segment, start)
    this.#minHold = segment.times.minHold ?? 0
  }

  attach(findIndex) {
    super.attach(findIndex)
    if (this.#minHold === 0) return
    this.#slot = native.host.slot(this.wordIndex)
    this.#rest = new BigInt64Array(this.#slot.buffer, 4 * restAt, 1)
  }

  acquireUnits(asked) {
    if (this.#minHold === 0) return super.acquireUnits(asked)
    const { weight } = asked
    return acquireInTime(this, asked.limits, (limits) => super.acquireUnits({ weight, limits }))
  }

  tryAcquire(weight) {
    let ticket = super.tryAcquire(weight)
    while (isEarly(ticket)) {
      ticket[1][undelivered]()
      ticket = super.tryAcquire(weight)
    }
    return ticket
  }

  acquireSync() {
    throw blockedError(this)
  }

  /** Throws: without a Releaser the semaphore cannot know which hold ends. */
  release() {
    const message = `${this.title()} has a maxHold or a minHold: release each grant by its Releaser`
    throw lockError('ERR_LOCK_UNSUPPORTED', message)
  }

  putOut(weight, abandoned) {
    const hold = new UnitsHold(this, this.segment.times)
    if (this.#minHold > 0 && !this.#payOwed(hold, weight)) {
      hold.until = Math.ceil(now() + this.#minHold)
      this.#restUntil(hold.until)
    }
    hold.observed = super.putOut(weight, abandoned)
    return hold
  }

  endHold(weight, hold) {
    hold.stop()
    super.endHold(weight, hold.observed)
  }

  /** Returns whether units of a grant of `weight` must rest for a dead holder. Sets `owed` and `until` of `hold`. */
  #payOwed(hold, weight) {
    for (;;) {
      const owed = Atomics.load(this.#slot, owedAt)
      if (owed === 0) return false
      const until = this.#restsEnd()
      const isOver = until <= now()
      // Read it as unsigned, because another process may have corrupted the word.
      const units = isOver ? owed : Math.min(owed >>> 0, weight)
      if (Atomics.compareExchange(this.#slot, owedAt, owed, (owed - units) | 0) !== owed) continue
      if (isOver) {
        if (this.#restsEnd() <= now()) return false
        // Meanwhile other processes paid, and one died that owes as many units until a later end.
        Atomics.add(this.#slot, owedAt, units)
        continue
      }
      hold.owed = units
      hold.isEarly = true
      hold.until = Math.min(until, now() + this.#minHold)
      return true
    }
  }

  #restsEnd() {
    return Number(Atomics.load(this.#rest, 0))
  }

  /** Stores the end of a minHold for the processes that clean up if this one dies. */
  #restUntil(until) {
    const end = BigInt(until)
    let known = Atomics.load(this.#rest, 0)
    while (known < end) {
      const seen = Atomics.compareExchange(this.#rest, 0, known, end)
      if (seen === known) return
      known = seen
    }
  }

  addToken(release, isGood, hold, end) {
    release[timed] = hold
    const { abandoned } = release
    if (this.#minHold > 0) {
      release[undelivered] = () => {
        if (hold.owed === 0) hold.until = 0
        end(abandoned)
      }
    }
    hold.begin(() => end(true))
    return hold.addSignal(super.addToken(release, isGood), isGood)
  }

  giveBack(units, isAbandoned, { owed, until }) {
    if (until <= now()) {
      super.giveBack(units, isAbandoned)
      return
    }
    // Report the death now, because other units may be granted before these.
    if (isAbandoned) native.hostSemaphore.tellNext(this.wordIndex)
    const resting = owed === 0 ? units : Math.min(owed, units)
    this.#keep(resting, until)
    if (units > resting) super.giveBack(units - resting, false)
    this.changed()
  }

  /** Keeps `units` until `until`. If this thread dies meanwhile, no grant reports its death. */
  #keep(units, until) {
    native.hostSemaphore.rest(this.wordIndex, units)
    at(until, () => {
      // This comes before the units go back, so that a death in between is reported rather than lost.
      native.hostSemaphore.rest(this.wordIndex, -units)
      super.giveBack(units, false)
    })
  }
}

module.exports = { TimedSemaphore }
