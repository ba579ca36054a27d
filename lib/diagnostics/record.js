'use strict'
// What one thread knows of one lock that is watched: who of this thread holds it and who waits, in the order in which
// they came, and a tally of what has been. A key of a keyed map has a record of its own, and the tally of its map.
//
//   Wait   somebody stands in line, or is about to block.   begins by enters() or begins(), ends by left()
//   Hold   a grant.                                         begins by granted(), ends by ends()
//
// Those of one turn of the event loop are one Wait, or one Hold, unless each is to be told apart: a lock that is free
// is taken in less time than it takes to make an object.
//
// A Wait that is granted becomes a Hold in two steps, since the class of waiters makes the grant: `admitted` says
// which one it is, and granted(), by whoever makes the releaser, takes it.
const { threadId } = require('node:worker_threads')
const { ago, now, turnTime } = require('./clock.js')
const deadlock = require('./deadlock.js')
const events = require('./events.js')
const { levels } = require('./levels.js')
const { Trace } = require('./trace.js')
const { endWatch, watchHold } = require('./long_holds.js')
const native = require('../load.js')
const { Hold, Wait } = require('./holds_and_waits.js')
const { rawWaits, Tally } = require('./tally.js')
const { unwatchReleaser } = require('./warnings.js')

class Record {
  /** `settings` are those of readDiagnostics(). */
  constructor(core, kind, scope, settings, tally = new Tally()) {
    this.core = core
    this.kind = kind
    this.scope = scope
    this.settings = settings
    this.tally = tally
    this.isFull = settings.level === levels.full
    /** Whether its deadlocks are looked for: of an engine nobody knows who waits elsewhere. */
    this.isSought = this.isFull && scope !== 'cluster'
    /** Whether it is a part of pictures of the process. */
    this.isShown = false
    /** Whether each hold and each wait is told apart, and its time is exact. */
    this.isDeep = this.isFull || settings.warnAfter !== undefined || scope === 'cluster'
    this.holds = []
    /** The last hold that was granted. */
    this.latest = null
    this.first = null
    this.last = null
    /** The wait that is being granted, and who is entering the line, where somebody wants to know. */
    this.admitted = null
    this.entering = null
    /** A mutex: since when it is held, if it is, and its hold where they are told apart. */
    this.since = 0
    this.current = null
    /** While nobody is to be told: what there is to tell. */
    this.unsaid = null
  }

  get lock() {
    return this.core
  }

  get name() {
    return this.core.home?.name ?? this.core.share?.name ?? this.core.name
  }

  /**
   * Exactly, or as the turn of the event loop goes: reading a clock takes longer than a lock. Nobody is to be warned
   * of a hold since its turn has taken long before.
   */
  time() {
    return this.isDeep ? now() : turnTime()
  }

  /** What is told of somebody who has, or wants, `units` of it. */
  stakeOf(core, mode, units) {
    return { observer: this, key: core.key, mode, weight: mode === undefined ? units : undefined }
  }

  /** Somebody is about to wait. */
  begins(mode, units) {
    const wait = new Wait(this, mode, units, this.time())
    if (this.isFull) wait.trace = new Trace()
    return wait
  }

  /** `waiter` is about to stand in line: its wait. */
  enters(core, waiter) {
    if (this.isFull || events.wait.hasSubscribers) this.entering = waiter
    const { last } = this
    if (!this.isDeep && last !== null && last.since === turnTime()) {
      last.count++
      return last
    }
    const weight = waiter.weight()
    const wait = this.begins(core.modeOf(weight), weight)
    if (this.isFull) wait.waiter = waiter
    this.appends(wait)
    return wait
  }

  /** It is the last of those who wait. */
  appends(wait) {
    const { last } = this
    wait.before = last
    if (last === null) this.first = wait
    else last.after = wait
    this.last = wait
    if (last?.count === 0) this.unlinks(last)
  }

  /** The thread that was about to block, or has, goes on. */
  unblocks(wait) {
    if (this.isSought) deadlock.endsAsk(wait)
  }

  /** One who had that wait stands in line no more, however it went. */
  left(wait) {
    wait.count--
    if (wait.count > 0) return
    if (this.isSought) deadlock.endsAsk(wait)
    // The last one may be that of others of this turn.
    if (this.isDeep || wait !== this.last) this.unlinks(wait)
  }

  unlinks(wait) {
    if (wait.before === null) this.first = wait.after
    else wait.before.after = wait.after
    if (wait.after === null) this.last = wait.before
    else wait.after.before = wait.before
    // Its hold may last: it must not keep all who come after it.
    wait.before = null
    wait.after = null
  }

  /** Somebody did not get it, for `reason`. */
  missed(stake, reason, waited) {
    const { tally } = this
    switch (reason?.code) {
      case 'ERR_LOCK_TIMEOUT':
        tally.timeouts++
        events.publish(events.timeout, stake, { waited })
        break
      case 'ERR_LOCK_DEADLOCK':
        tally.deadlocks++
        events.publish(events.deadlock, stake, { reason })
        break
      default:
        tally.aborts++
        events.publish(events.abort, stake, { waited, reason })
    }
  }

  /** Counts a grant: since when it is there. */
  counts(isAbandoned) {
    const { tally, admitted } = this
    const since = this.time()
    tally.acquisitions++
    if (admitted !== null) {
      this.admitted = null
      tally.contended++
      tally.waits.add(since - admitted.since)
    }
    if (isAbandoned) tally.abandoned++
    return since
  }

  /** What is held from now on, `units` of it by somebody new. */
  granted(core, mode, units, isAbandoned) {
    const { admitted } = this
    const since = this.counts(isAbandoned)
    let hold = this.latest
    if (!this.isDeep && hold !== null && hold.since === since && hold.mode === mode) {
      hold.units += units
    } else {
      hold = this.adds(mode, units, since)
      if (this.isDeep) this.follows(hold, admitted)
    }
    if (isAbandoned || events.admit.hasSubscribers) {
      const waited = admitted === null ? 0 : since - admitted.since
      this.tells(this.stakeOf(core, mode, units), waited, isAbandoned)
    }
    return hold
  }

  adds(mode, units, since) {
    const { holds, latest } = this
    const hold = new Hold(this, mode, units, since, holds.length)
    holds.push(hold)
    this.latest = hold
    if (latest?.units === 0 && !latest.isOver) this.drops(latest)
    return hold
  }

  /** That somebody has it. */
  tells(stake, waited, isAbandoned) {
    const tell = () => {
      events.publish(events.admit, stake, { waited })
      if (isAbandoned) events.publish(events.abandoned, stake)
    }
    if (this.unsaid === null) tell()
    else this.unsaid.push(tell)
  }

  follows(hold, wait) {
    if (this.settings.warnAfter !== undefined) watchHold(hold)
    if (!this.isFull) return
    hold.trace = wait === null ? new Trace() : wait.trace
    // It keeps nothing else of the wait, whose promise has the releaser: that is to be missed.
    if (this.isSought) deadlock.holds(hold, wait)
  }

  /** What `step` makes: nobody is told of its grants before it is done. */
  quietly(step) {
    this.unsaid = []
    try {
      return step()
    } finally {
      const { unsaid } = this
      this.unsaid = null
      for (const say of unsaid) say()
    }
  }

  /**
   * `units` of it are about to be let go of, which nobody must see held by then. The latest stays: others of this turn
   * may have it, too.
   */
  ends(hold, units) {
    if (hold.isOver) return
    if (events.release.hasSubscribers) {
      const { lock: core, mode } = hold
      this.tellsRelease(this.stakeOf(core, mode, Math.min(units, hold.units)), hold.since)
    }
    hold.units = Math.max(0, hold.units - units)
    if (hold.units === 0 && (this.isDeep || hold !== this.latest)) this.drops(hold)
  }

  drops(hold) {
    hold.isOver = true
    const last = this.holds.pop()
    if (last !== hold) {
      this.holds[hold.at] = last
      last.at = hold.at
    }
    if (this.isDeep) this.forgets(hold)
  }

  forgets(hold) {
    if (this.settings.warnAfter !== undefined) endWatch(hold)
    if (!this.isFull) return
    unwatchReleaser(hold)
    if (this.isSought) deadlock.releases(hold)
  }

  tellsRelease(stake, since) {
    events.publish(events.release, stake, { held: ago(since) })
  }

  /** `weight` has been put back by nobody in particular. */
  givesBack(weight) {
    let rest = weight
    for (const hold of this.holds.toSorted(byAge)) {
      if (rest === 0) return
      const units = Math.min(rest, hold.units)
      rest -= units
      if (units > 0) this.ends(hold, units)
    }
  }

  /** What a snapshot of the lock has besides, which sees it `held` like that; a key has no more than its own. */
  seen(core, held) {
    const time = now()
    const oldestWait = this.first?.count > 0 ? time - this.first.since : undefined
    const holders = core.holdersElsewhere(core.holdersHere(time), held)
    const parts = { ...held, holders, oldestWait }
    if (core.home !== null) return parts
    return { ...parts, totals: core.totals(), waits: this.tally.waited() }
  }

  /** The part of this thread in a picture of the process: of a lock with a record of its own. */
  reports() {
    const { kind, name, scope, tally, core } = this
    const { waiting, holders, oldestWait } = core.snapshot()
    const isShared = name !== undefined || core.share !== null
    const what = { kind, name, scope, id: this.id(), isShared, holders, waiting, oldestWait }
    return [{ ...what, totals: core.totals(), waits: rawWaits(tally) }]
  }

  /** The same in all threads that have the lock. */
  id() {
    const { kind, name, scope, tally, core } = this
    if (name !== undefined) return `${kind} ${scope} ${name}`
    if (core.share === null) return `${kind} ${tally.id}`
    return `${kind} at ${native.regions.addressOf(core.share.place)}`
  }

  holders(time) {
    return this.holds.toSorted(byAge).flatMap((hold) => eachOf(hold, time))
  }
}

/** In a snapshot: those who have `hold`, as far as they can be told apart. */
function eachOf(hold, time) {
  const one = holderOf(hold, time)
  return Array.from({ length: hold.mode === undefined ? +(hold.units > 0) : hold.units }, () => one)
}

function holderOf({ since, mode, weight, stack }, time) {
  return { thread: threadId, since, heldFor: Math.max(0, time - since), mode, weight, stack }
}

const byAge = (a, b) => a.since - b.since

module.exports = { holderOf, Record }
