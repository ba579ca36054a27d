'use strict'
// What all watched cores have in common: see watched.js.
const { endTurn } = require('./clock.js')
const deadlock = require('./deadlock.js')
const { publish, wait } = require('./events.js')
const { Record } = require('./record.js')
const { goAway } = require('../waiters.js')

const watched = Symbol('watched')

/** The class of waiters that is derived from `Kind`, and tells of itself. */
function watchedKind(Kind) {
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
          this.wait.record.gaveUp(this.wait, reason)
          reject(reason)
        }
      }
    }

    reject(reason) {
      this.wait.record.gaveUp(this.wait, reason)
      super.reject(reason)
    }

    end() {
      super.end()
      this.wait.record.left(this.wait)
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
    /** What the line has answered last. */
    ticket = 0

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

    /** How much of it. */
    unitsOf(_weight) {
      return undefined
    }

    /** The next of the line is in, before its releaser is made. */
    enters(_abandoned) {}

    enterLine(weight, limits, Kind) {
      if (Kind.prototype.isToStay) return super.enterLine(weight, limits, Kind)
      const { signal } = limits
      if (signal?.aborted) this.refuses(weight, signal.reason)
      return this.waits(super.enterLine(weight, limits, watchedKind(Kind)))
    }

    enter(weight, priority) {
      this.ticket = super.enter(weight, priority)
      return this.ticket
    }

    /** Somebody is not even to wait. */
    refuses(weight, reason) {
      const { record, key } = this
      const stake = { record, key, mode: this.modeOf(weight), weight: this.unitsOf(weight) }
      record.missed(stake, reason, 0)
    }

    /** `promise` is for somebody who stands in line now, unless it was to be had at once, or there was no time. */
    waits(promise) {
      const { record } = this
      const { entering } = record
      if (entering === null) return promise
      record.entering = null
      if (wait.hasSubscribers) publish(wait, entering)
      if (record.isFull && !entering.isOver) this.asks(entering, promise)
      return promise
    }

    asks(entering, promise) {
      const { waiter } = entering
      entering.promise = promise
      entering.ticket = waiter.how?.ticket ?? this.ticket
      entering.priority = waiter.priority()
      try {
        deadlock.asks(entering)
      } catch (error) {
        goAway(entering.ticket, error)
      }
    }

    admit(waiter, abandoned, before) {
      if (waiter.wait !== undefined) this.record.admits(waiter.wait)
      super.admit(waiter, abandoned, before)
    }

    enterSync(weight, limits) {
      const { blocked, result } = this.blocks(weight, limits, () => super.enterSync(weight, limits))
      if (blocked.isNeeded) this.record.admits(blocked)
      return result
    }

    /** `block` may block this thread. */
    blocks(weight, { timeout, priority }, block, hold) {
      const { record } = this
      const isNeeded = this.isTaken(weight)
      if (isNeeded) endTurn()
      const blocked = record.begins(this, this.modeOf(weight), this.unitsOf(weight))
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
        if (isMiss(error)) record.gaveUp(blocked, error)
        throw error
      } finally {
        record.left(blocked)
      }
    }

    /** Whether a thread that would block for it has to wait. */
    isTaken(_weight) {
      return true
    }

    snapshot() {
      return this.record.seen(this, super.snapshot())
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

/** `promise` gives what has been granted just now, if anything has: those that wait have promises of their own. */
function gives(record, promise) {
  if (record.latest !== null) deadlock.gives(record.latest, promise)
  return promise
}

module.exports = { gives, watchedCore, watchedKind }
