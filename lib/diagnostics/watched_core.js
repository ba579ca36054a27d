'use strict'
// What all watched cores have in common: see watched.js.
const { ago, endTurn } = require('./clock.js')
const deadlock = require('./deadlock.js')
const { publish, wait } = require('./events.js')
const { Record } = require('./record.js')
const { watchReleaser } = require('./warnings.js')
const { dressed } = require('../core/releaser.js')
const { goAway } = require('../process/waiters.js')

const watched = Symbol('watched')

/** The class of waiters that is derived from `Kind`, and tells of itself. Most are like the one before. */
function watchedKind(Kind) {
  if (Kind !== lastKind) {
    lastWatched = findWatched(Kind)
    lastKind = Kind
  }
  return lastWatched
}

let lastKind
let lastWatched

function findWatched(Kind) {
  if (Kind.prototype.isToStay) return Kind
  if (!Object.hasOwn(Kind, watched)) Kind[watched] = watching(Kind)
  return Kind[watched]
}

function watching(Kind) {
  class Watched extends Kind {
    constructor(core, resolve, reject, how) {
      super(core, resolve, reject, how)
      this.wait = core.record.enters(core, this)
      // Some kinds have one of their own each, which hides ours.
      if (this.reject !== Watched.prototype.reject) {
        const { reject } = this
        this.reject = (reason) => {
          this.core.gaveUp(this, reason)
          reject(reason)
        }
      }
    }

    reject(reason) {
      this.core.gaveUp(this, reason)
      super.reject(reason)
    }

    static value(core, weight, abandoned, before) {
      core.enters(abandoned)
      return Kind.value(core, weight, abandoned, before)
    }
  }
  return Watched
}

const watchedCore = (Base) =>
  class extends Base {
    record = null

    /** `kind` is the name of its class in the API; `settings` are those of readDiagnostics(). */
    observe(kind, scope, settings, tally) {
      this.record = new Record(this, kind, scope, settings, tally)
      if (this.record.isFull) deadlock.start()
      return this
    }

    /** All objects of this thread that stand for one lock have one record. */
    settleIn(title, findShare) {
      super.settleIn(title, findShare)
      if (this.record.isFull) deadlock.moves(this)
      if (this.home !== null) return
      // Weakly: a share stays until the last of its cores is collected.
      const known = this.share.record?.deref()
      if (known === undefined) this.share.record = new WeakRef(this.record)
      else this.record = known
    }

    /** How it is asked for by `weight`, as C++ has it. */
    modeOf(_weight) {
      return 'exclusive'
    }

    /** The next of the line is in, before its releaser is made. */
    enters(_abandoned) {}

    enterLine(weight, limits, Kind) {
      const promise = super.enterLine(weight, limits, watchedKind(Kind))
      if (this.record.entering !== null) this.stands(promise)
      return promise
    }

    /** `promise` is for somebody who stands in line now. */
    stands(_promise) {
      const { entering } = this.record
      this.record.entering = null
      if (wait.hasSubscribers) publish(wait, this.stakeOf(entering.weight()))
      return entering
    }

    /** Somebody is not even to wait. */
    refuse(weight, reason) {
      this.misses(weight, reason)
      return super.refuse(weight, reason)
    }

    /** Somebody who has not waited does not get it. */
    misses(weight, reason) {
      this.record.missed(this.stakeOf(weight), reason, 0)
    }

    /** Of somebody who asks for `weight`. */
    stakeOf(weight) {
      return this.record.stakeOf(this, this.modeOf(weight), weight)
    }

    /** `waiter` has left it in vain. */
    gaveUp(waiter, reason) {
      const { wait } = waiter
      // A reader that became the writer when its releaser had let go.
      if (wait === undefined) return
      waiter.wait = undefined
      if (this.record.entering === waiter) this.record.entering = null
      this.record.left(wait)
      this.record.missed(this.stakeOf(waiter.weight()), reason, ago(wait.since))
    }

    admit(waiter, abandoned, before) {
      const { wait } = waiter
      if (wait !== undefined) {
        waiter.wait = undefined
        this.record.admitted = wait
        this.record.left(wait)
      }
      super.admit(waiter, abandoned, before)
    }

    enterSync(weight, limits) {
      const { blocked, result } = this.blocks(weight, limits, () => super.enterSync(weight, limits))
      if (blocked.isNeeded) this.record.admitted = blocked
      return result
    }

    /** `block` may block this thread. */
    blocks(weight, { timeout, priority }, block, hold) {
      const { record } = this
      const isNeeded = this.isTaken(weight)
      if (isNeeded) endTurn()
      const blocked = record.begins(this.modeOf(weight), weight)
      blocked.isSync = true
      blocked.hold = hold
      blocked.priority = priority
      blocked.isNeeded = isNeeded
      try {
        if (isNeeded && timeout > 0) {
          publish(wait, blocked)
          if (record.isFull) deadlock.asks(blocked)
        }
        if (isNeeded) endTurn()
        return { blocked, result: block(blocked) }
      } catch (error) {
        if (isMiss(error)) record.missed(blocked, error, ago(blocked.since))
        throw error
      } finally {
        record.unblocks(blocked)
      }
    }

    /** Whether a thread that would block for it has to wait. */
    isTaken(_weight) {
      return true
    }

    snapshot() {
      return this.record.seen(this, super.snapshot())
    }

    totals() {
      return this.record.tally.totals()
    }

    /** Of this thread. */
    holdersHere(time) {
      return this.record.holders(time)
    }

    /** `ours`, and what is to be seen of others who hold it. */
    holdersElsewhere(ours, { holderPids }) {
      if (holderPids === undefined) return ours
      const { pid } = process
      const others = holderPids.filter((other) => other !== pid || ours.length === 0)
      return [...ours.map((holder) => ({ ...holder, pid })), ...others.map((pid) => ({ pid }))]
    }
  }

const isMiss = ({ code }) => code === 'ERR_LOCK_TIMEOUT' || code === 'ERR_LOCK_DEADLOCK'

/** Where deadlocks are looked for, and releasers missed. */
const fullyWatchedCore = (Base) => {
  const dress = Base.prototype.dress ?? dressed
  return class extends Base {
    /** What the line has answered last. */
    ticket = 0

    dress(release, abandoned, isGood) {
      const whole = dress.call(this, release, abandoned, isGood)
      watchReleaser(whole, this.record.latest)
      return whole
    }

    /** With the stack of the caller that waited: that of a timer leads nowhere. */
    timeoutError(timeout, waiter) {
      const error = super.timeoutError(timeout)
      waiter?.wait?.trace?.moveTo(error)
      return error
    }

    enter(weight, priority) {
      this.ticket = super.enter(weight, priority)
      return this.ticket
    }

    stands(promise) {
      const waiter = super.stands(promise)
      // Whoever has been told may have let it in, or made it go.
      const { wait } = waiter
      if (wait === undefined) return
      wait.promise = promise
      wait.ticket = waiter.how?.ticket ?? this.ticket
      wait.priority = waiter.priority()
      try {
        deadlock.asks(wait)
      } catch (error) {
        goAway(wait.ticket, error)
      }
    }
  }
}

/** `promise` gives what has been granted just now, if anything has: those that wait have promises of their own. */
function gives(record, promise) {
  if (record.latest !== null) deadlock.gives(record.latest, promise)
  return promise
}

module.exports = { fullyWatchedCore, gives, watchedCore, watchedKind }
