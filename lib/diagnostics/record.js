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
const { events, publish } = require('./events.js')
const { Histogram } = require('./histogram.js')
const { levels } = require('./levels.js')
const { Trace } = require('./trace.js')
const { endWatch, watchHold } = require('./long_holds.js')
const native = require('../load.js')
const { rawWaits, Tally } = require('./tally.js')
const { unwatchReleaser } = require('./warnings.js')

/** What holds and waits have in common. */
class Stake {
  constructor(record, core, mode, weight, since, trace) {
    this.record = record
    this.core = core
    this.key = core.key
    this.mode = mode
    this.weight = weight
    this.since = since
    this.trace = trace
    this.promise = undefined
  }

  /** Where it was asked for. */
  get stack() {
    return this.trace?.text
  }
}

class Wait extends Stake {
  /** Its thread blocks. */
  isSync = false
  /** Granted. */
  isIn = false
  /** The hold of somebody who upgrades, which that one keeps meanwhile. */
  hold = undefined
  isOver = false
  before = null
  after = null
}

class Hold extends Stake {
  isOver = false
  /** It was waited for. */
  wait = null
  /** Where it lies among the holds of its record. */
  at = 0
}

class Record {
  /** `settings` are those of readDiagnostics(). */
  constructor(core, kind, scope, settings, tally = new Tally()) {
    this.core = core
    this.kind = kind
    this.scope = scope
    this.settings = settings
    this.tally = tally
    this.isFull = settings.level === levels.full
    /** Whether it is a part of pictures of the process. */
    this.isShown = false
    /** Whether each hold is somebody, and not just a time. */
    this.isDeep = this.isFull || settings.warnAfter !== undefined
    this.holds = []
    this.first = null
    this.last = null
    /** The wait that is being granted. */
    this.admitted = null
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

  /** Exactly, or as the turn of the event loop goes: reading a clock takes longer than a lock. */
  time() {
    return this.isFull ? now() : turnTime()
  }

  trace() {
    return this.isFull ? new Trace() : undefined
  }

  /** Somebody waits from now on, unless there is a reason not to. */
  begins(core, mode, weight) {
    return new Wait(this, core, mode, weight, this.time(), this.trace())
  }

  /** It has become one of the line. */
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
    if (wait.before === null) this.first = wait.after
    else wait.before.after = wait.after
    if (wait.after === null) this.last = wait.before
    else wait.after.before = wait.before
    if (this.isFull) deadlock.endsAsk(wait)
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
        publish(events.timeout, stake, { waited })
        break
      case 'ERR_LOCK_DEADLOCK':
        tally.deadlocks++
        publish(events.deadlock, stake, { reason })
        break
      default:
        tally.aborts++
        publish(events.abort, stake, { waited, reason })
    }
  }

  /** The next grant is that of `wait`. */
  admits(wait) {
    this.admitted = wait
  }

  /** A new hold. */
  granted(core, mode, weight, abandoned) {
    const { tally, admitted: wait } = this
    this.admitted = null
    tally.acquisitions++
    let waited = 0
    let hold
    if (wait === null) {
      hold = new Hold(this, core, mode, weight, this.time(), this.trace())
    } else {
      hold = new Hold(this, core, mode, weight, this.time(), wait.trace)
      hold.wait = wait
      wait.isIn = true
      waited = hold.since - wait.since
      tally.contended++
      tally.waits ??= new Histogram()
      tally.waits.add(waited)
    }
    if (abandoned) tally.abandoned++
    hold.at = this.holds.push(hold) - 1
    if (this.settings.warnAfter !== undefined) watchHold(hold)
    this.latest = hold
    if (this.isFull) deadlock.holds(hold)
    if (this.unsaid === null) tellsGrant(hold, waited, abandoned)
    else this.unsaid.push(() => tellsGrant(hold, waited, abandoned))
    return hold
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
    if (this.settings.warnAfter !== undefined) endWatch(hold)
    if (this.isFull) {
      unwatchReleaser(hold)
      deadlock.releases(hold)
    }
    this.tellsRelease(hold)
  }

  tellsRelease(stake) {
    if (events.release.hasSubscribers) publish(events.release, stake, { held: now() - stake.since })
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

function tellsGrant(hold, waited, abandoned) {
  publish(events.admit, hold, { waited })
  if (abandoned) publish(events.abandoned, hold)
}

module.exports = { Record }
