'use strict'
// What one thread knows of one lock that is watched: who of this thread holds it and who waits, in the order in which
// they came, and a tally of what has been. A key of a keyed map has a record of its own, and the tally of its map.
//
//   Wait   somebody stands in line, or is about to block.   begins by entered(), ends by left() or refused()
//   Hold   a grant.                                         begins by granted(), ends by ends()
//
// A Wait that is granted becomes a Hold in two steps, since the class of waiters makes the grant: admits(wait) says
// which one it is, and granted(), by whoever makes the releaser, takes it.
const { threadId } = require('node:worker_threads')
const { now, turnTime } = require('./clock.js')
const deadlock = require('./deadlock.js')
const events = require('./events.js')
const { levels } = require('./levels.js')
const { Trace } = require('./trace.js')
const { endWatch, watchHold } = require('./long_holds.js')
const native = require('../load.js')
const { rawWaits, Tally } = require('./tally.js')
const { unwatchReleaser } = require('./warnings.js')

// Both are made for each grant, or wait: no fields of classes, which cost more in Node 20, and nothing twice.

class Hold {
  constructor(record, core, mode, weight, since, at) {
    this.record = record
    this.core = core
    this.key = core.key
    this.mode = mode
    this.weight = weight
    this.since = since
    this.isOver = false
    /** Where it lies among the holds of its record. */
    this.at = at
  }

  /** Where it was asked for. */
  get stack() {
    return this.trace?.text
  }
}

class Wait {
  constructor(record, core, mode, weight, since) {
    this.record = record
    this.core = core
    this.key = core.key
    this.mode = mode
    this.weight = weight
    this.since = since
    this.isOver = false
    /** Granted. */
    this.isIn = false
    this.before = null
    this.after = null
  }

  get stack() {
    return this.trace?.text
  }
}

// What the search for deadlocks wants to know besides: all others do without the memory.
Hold.prototype.trace = undefined
Object.assign(Wait.prototype, {
  trace: undefined,
  promise: undefined,
  /** Its thread blocks. */
  isSync: false,
  /** Of somebody who upgrades: the hold that it keeps meanwhile. */
  hold: undefined,
  /** The object that stands in line, unless its thread blocks. */
  waiter: undefined,
})

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
    /** Whether each hold is somebody, and not just a time. */
    this.isDeep = this.isFull || settings.warnAfter !== undefined
    this.holds = []
    this.first = null
    this.last = null
    /** The wait that is being granted, and the one that is being made. */
    this.admitted = null
    this.entering = null
    /** A mutex: since when it is held, 0 while it is not, and its hold where that is somebody. */
    this.since = 0
    this.current = null
    /** The last hold that was granted. */
    this.latest = null
    /** While nobody is to be told: what there is to tell. */
    this.unsaid = null
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

  /** Somebody is about to wait. */
  begins(core, mode, weight) {
    const wait = new Wait(this, core, mode, weight, this.time())
    if (this.isFull) wait.trace = new Trace()
    return wait
  }

  /** `waiter` is about to stand in line. */
  enters(core, waiter) {
    const weight = waiter.weight()
    const wait = this.begins(core, core.modeOf(weight), core.unitsOf(weight))
    if (this.isFull) wait.waiter = waiter
    this.entered(wait)
    this.entering = wait
    return wait
  }

  /** It is the last of those who wait. */
  entered(wait) {
    wait.before = this.last
    if (this.last === null) this.first = wait
    else this.last.after = wait
    this.last = wait
  }

  /** The wait has ended, however: it is told only once. */
  left(wait) {
    if (wait.isOver) return
    wait.isOver = true
    if (this.isSought) deadlock.endsAsk(wait)
    if (wait.isSync) return
    if (this.entering === wait) this.entering = null
    if (wait.before === null) this.first = wait.after
    else wait.before.after = wait.after
    if (wait.after === null) this.last = wait.before
    else wait.after.before = wait.before
    // Its hold may last: it must not keep all who come after it.
    wait.before = null
    wait.after = null
  }

  /** It has waited in vain. */
  gaveUp(wait, reason) {
    // A reader that became the writer when its releaser had let go.
    if (wait.isIn) return
    this.missed(wait, reason, Math.max(0, now() - wait.since))
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

  /** The next grant is that of `wait`. */
  admits(wait) {
    this.admitted = wait
  }

  /** Counts a grant: since when it is there. */
  counts(isAbandoned) {
    const { tally, admitted } = this
    const since = this.time()
    tally.acquisitions++
    if (admitted !== null) {
      this.admitted = null
      admitted.isIn = true
      tally.contended++
      tally.waits.add(since - admitted.since)
    }
    if (isAbandoned) tally.abandoned++
    return since
  }

  /** A new hold. */
  granted(core, mode, weight, isAbandoned) {
    const { admitted, holds } = this
    const since = this.counts(isAbandoned)
    const hold = new Hold(this, core, mode, weight, since, holds.length)
    holds.push(hold)
    this.latest = hold
    if (this.isDeep) this.follows(hold, admitted)
    if (isAbandoned || events.admit.hasSubscribers) this.tells(hold, admitted, isAbandoned)
    return hold
  }

  tells(hold, wait, isAbandoned) {
    const waited = wait === null ? 0 : hold.since - wait.since
    const tell = () => {
      events.publish(events.admit, hold, { waited })
      if (isAbandoned) events.publish(events.abandoned, hold)
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

  /** Before its lock is let go, which nobody must see held by it any more. */
  ends(hold) {
    if (hold.isOver) return
    hold.isOver = true
    const last = this.holds.pop()
    if (last !== hold) {
      this.holds[hold.at] = last
      last.at = hold.at
    }
    if (this.isDeep) this.forgets(hold)
    if (events.release.hasSubscribers) this.tellsRelease(hold)
  }

  forgets(hold) {
    if (this.settings.warnAfter !== undefined) endWatch(hold)
    if (!this.isFull) return
    unwatchReleaser(hold)
    if (this.isSought) deadlock.releases(hold)
  }

  tellsRelease(stake) {
    events.publish(events.release, stake, { held: Math.max(0, now() - stake.since) })
  }

  /** `weight` has been put back by nobody in particular. */
  givesBack(weight) {
    let rest = weight
    for (const hold of this.holds.toSorted(byAge)) {
      if (rest < hold.weight) {
        hold.weight -= rest
        return
      }
      rest -= hold.weight
      this.ends(hold)
    }
  }

  /** What a snapshot of the lock has besides, which sees it `held` like that; a key has no more than its own. */
  seen(core, held) {
    const time = now()
    const oldestWait = this.first === null ? undefined : time - this.first.since
    const holders = core.holdersElsewhere(this.holders(time), held)
    const parts = { ...held, holders, oldestWait }
    if (core.home !== null) return parts
    return { ...parts, totals: this.tally.totals(), waits: this.tally.waited() }
  }

  /** The part of this thread in a picture of the process: of a lock with a record of its own. */
  reports() {
    const { kind, name, scope, tally, core } = this
    const { waiting, holders, oldestWait } = core.snapshot()
    const isShared = name !== undefined || core.share !== null
    const what = { kind, name, scope, id: this.id(), isShared, holders, waiting, oldestWait }
    return [{ ...what, totals: tally.totals(), waits: rawWaits(tally) }]
  }

  /** The same in all threads that have the lock. */
  id() {
    const { kind, name, scope, tally, core } = this
    if (name !== undefined) return `${kind} ${scope} ${name}`
    if (core.share === null) return `${kind} ${tally.id}`
    return `${kind} at ${native.addressOf(core.share.place)}`
  }

  holders(time) {
    const one = ({ since, mode, weight, stack }) => {
      return { thread: threadId, since, heldFor: Math.max(0, time - since), mode, weight, stack }
    }
    if (this.since !== 0 && this.current === null) {
      return [one({ since: this.since, mode: 'exclusive' })]
    }
    return this.holds.map(one).sort(byAge)
  }
}

const byAge = (a, b) => a.since - b.since

module.exports = { Record }
