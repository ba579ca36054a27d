'use strict'
// What all watched cores have in common: see watched.js.
const deadlock = require('./deadlock.js')
const { events, publish } = require('./events.js')
const { Record } = require('./record.js')
const { goAway, waiterAt } = require('../waiters.js')

const watchedKinds = new Map()

/** The class of waiters that is derived from `Kind`, and tells of itself. */
function watchedKind(Kind) {
  let Watched = watchedKinds.get(Kind)
  if (Watched === undefined) {
    Watched = watching(Kind)
    watchedKinds.set(Kind, Watched)
  }
  return Watched
}

const watching = (Kind) =>
  class extends Kind {
    constructor(core, resolve, reject, how) {
      super(core, resolve, reject, how)
      const { mode, weight } = core.asked(this.weight())
      this.wait = core.record.begins(core, mode, weight)
      core.record.entered(this.wait)
      // Some kinds have one of their own each, which hides ours.
      if (Object.hasOwn(this, 'reject')) {
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
    asked(_weight) {
      return { mode: 'exclusive', weight: undefined }
    }

    /** The next of the line is in, before its releaser is made. */
    enters(_abandoned) {}

    enterLine(weight, limits, Kind) {
      if (Kind.prototype.isToStay) return super.enterLine(weight, limits, Kind)
      if (limits.signal?.aborted) this.refuses(weight, limits.signal.reason)
      return super.enterLine(weight, limits, watchedKind(Kind))
    }

    /** Somebody is not even to wait. */
    refuses(weight, reason) {
      const { record, key } = this
      record.missed({ record, key, ...this.asked(weight) }, reason, 0)
    }

    waitFor(ticket, Kind, weight, limits) {
      const promise = super.waitFor(ticket, Kind, weight, limits)
      const wait = waiterAt(ticket)?.wait
      // Whoever had no time has gone already.
      if (wait !== undefined) this.waits(ticket, wait, promise)
      return promise
    }

    /** It stands in line. */
    waits(ticket, wait, promise) {
      publish(events.wait, wait)
      if (!this.record.isFull || wait.isOver) return
      wait.promise = promise
      wait.ticket = ticket
      wait.priority = waiterAt(ticket).priority()
      try {
        deadlock.asks(wait)
      } catch (error) {
        goAway(ticket, error)
      }
    }

    admit(waiter, ...how) {
      if (waiter.wait !== undefined) this.record.admits(waiter.wait)
      super.admit(waiter, ...how)
    }

    enterSync(weight, limits) {
      const { wait, result } = this.blocks(weight, limits, () => super.enterSync(weight, limits))
      if (wait.isNeeded) this.record.admits(wait)
      return result
    }

    /** `block` may block this thread. */
    blocks(weight, { timeout, priority }, block, hold) {
      const { record } = this
      const { mode, weight: units } = this.asked(weight)
      const wait = record.begins(this, mode, units)
      wait.isSync = true
      wait.hold = hold
      wait.priority = priority
      wait.isNeeded = this.isTaken(weight)
      record.entered(wait)
      try {
        if (wait.isNeeded && timeout > 0) {
          publish(events.wait, wait)
          if (record.isFull) deadlock.asks(wait)
        }
        return { wait, result: block(wait) }
      } catch (error) {
        if (isMiss(error)) record.gaveUp(wait, error)
        throw error
      } finally {
        record.left(wait)
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
