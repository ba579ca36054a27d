'use strict'
// The diagnostics of one lock in one thread: its holds and its waits, in the order in which they began, and a tally of
// past ones. The lock (lib/core) calls the observer at each step: docs/decisions/observer.md lists the calls. Each key
// of a keyed lock has its own observer, with the tally of the map.
//
// With 'counters' all holds of one callback of the event loop share one object, and so do all waits: making an object
// takes longer than acquiring a free lock.
const { blocks } = require('./blocking.js')
const { Claim } = require('./claim.js')
const { ago, now, turnTime } = require('./clock.js')
const deadlock = require('./deadlock.js')
const events = require('./events.js')
const { endWatch, watchHold, watchRelease } = require('./long_holds.js')
const { eachOf, reportOf, seenOf, textOfHolders } = require('./reports.js')
const { Tally } = require('./tally.js')
const { Trace } = require('./trace.js')
const { failed } = require('./warnings.js')

/** Whether `waiter` can share the record `wait`, because both began in this callback of the event loop. */
const isLike = (wait, waiter) =>
  wait.since === turnTime() && wait.mode === waiter.mode && wait.units === waiter.weight

class Observer {
  /** `kind` is the lock's class in the API, `settings` are of readDiagnostics(), `map` is a key's KeyedObserver. */
  constructor(lock, kind, scope, settings, map) {
    this.lock = lock
    this.kind = kind
    this.scope = scope
    this.settings = settings
    /** What is the same for all keys of a keyed lock: its tally, where it was made, and its class in the order. */
    this.whole = map ?? this
    this.tally = map === undefined ? new Tally() : map.tally
    this.isFull = settings.isFull
    /** Whether to detect deadlocks. Not over an engine, which does not tell who waits on other machines. */
    this.isSought = this.isFull && scope !== 'cluster'
    this.isOrdered = settings.isOrdered
    this.orderClass = undefined // lock_order.js sets it
    this.isFollowed = this.isSought || this.isOrdered
    /** Whether each hold and each wait has its own object, and an exact time. */
    this.tellsApart = this.isFull || settings.warnAfter !== undefined || scope === 'cluster'
    this.holds = new Set()
    this.waits = new Set()
    /** The latest hold. If `tellsApart`, null after its end, because its trace keeps objects alive. */
    this.latest = null
    /** The stack of the constructor of a lock without a name. */
    this.madeAt = undefined
    /** The latest wait, which waiters of this callback may share. */
    this.last = null
    if (this.isFollowed) deadlock.start()
  }

  get name() {
    const { keyMap, name } = this.lock
    return keyMap?.name ?? name
  }

  /**
   * Returns the exact time if `tellsApart`, else the time of this callback of the event loop, because reading a clock
   * takes longer than a lock. A warning needs the exact time, so as not to count what the callback did before the hold.
   */
  time() {
    return this.tellsApart ? now() : turnTime()
  }

  /** Called when `waiter` has entered the queue. Its caller has `promise`. */
  waiting(waiter, promise) {
    const { last } = this
    if (!this.tellsApart && last !== null && isLike(last, waiter)) {
      last.count++
      waiter.wait = last
    } else {
      waiter.wait = this.begins(waiter.mode, waiter.weight)
      this.appends(waiter.wait)
    }
    events.publishWait(this, waiter, waiter.mode, waiter.weight)
    // A subscriber may have ended the wait.
    if (this.isFull && waiter.wait !== undefined) this.#follows(waiter, promise)
  }

  #follows(waiter, promise) {
    const { wait } = waiter
    wait.waiter = waiter
    wait.promise = promise
    wait.priority = waiter.priority
    wait.hold = waiter.grant?.hold
    if (!this.isFollowed) return
    try {
      deadlock.asks(wait)
    } catch (error) {
      this.lock.leave(waiter, error)
    }
  }

  begins(mode, units) {
    const wait = new Claim(this, mode, units, this.time())
    if (this.isFull) wait.trace = new Trace()
    return wait
  }

  appends(wait) {
    this.waits.add(wait)
    if (this.tellsApart) return
    if (this.last?.count === 0) this.waits.delete(this.last)
    this.last = wait
  }

  /** Called when a waiter that shares the record `wait` has left the queue, for any reason. */
  #left(wait) {
    wait.count--
    if (wait.count > 0) return
    if (this.isSought) deadlock.endsAsk(wait)
    if (wait !== this.last) this.waits.delete(wait)
  }

  gaveUp(waiter, reason) {
    const { wait } = waiter
    // A holder that waited for a condition variable and queues for its mutex does not count as a waiter.
    if (wait === undefined) return
    waiter.wait = undefined
    this.#left(wait)
    this.missed(waiter.mode, waiter.weight, reason, ago(wait.since), waiter)
  }

  /** Gives `error`, the error of `waiter`, which has timed out, the stack of its caller. */
  timedOut(waiter, error) {
    waiter.wait?.trace?.moveTo(error)
  }

  /** Records a failed acquire. `waiter` is undefined for a caller that did not wait. */
  missed(mode, units, reason, waited = 0, waiter) {
    const { totals } = this.tally
    const code = reason?.code
    // Most upgrades are refused at once. An engine's server refuses one that has waited for its answer.
    if (code === 'ERR_LOCK_UPGRADE' && waiter === undefined) return
    switch (code) {
      case 'ERR_LOCK_TIMEOUT':
        totals.timeouts++
        events.publish(events.timeout, this, mode, units, { waited }, waiter)
        break
      case 'ERR_LOCK_DEADLOCK':
        totals.deadlocks++
        events.publish(events.deadlock, this, mode, units, { reason }, waiter)
        break
      default:
        totals.aborts++
        events.publish(events.abort, this, mode, units, { waited, reason }, waiter)
    }
  }

  /**
   * Records a grant, and returns the hold. `waiter` is null for a caller that did not wait. `release` and `promise` are
   * what the caller gets, if known. For a callback, `release` may be its grant.
   */
  granted(mode, units, waiter, isAbandoned, release, promise, limits) {
    const since = this.time()
    const wait = waiter === null ? undefined : waiter.wait
    this.tally.totals.acquisitions++
    if (wait !== undefined) this.waited(waiter, wait, since)
    let hold = this.latest
    if (!this.tellsApart && hold !== null && hold.since === since && hold.mode === mode) {
      hold.units += units
    } else {
      hold = this.#adds(mode, units, since)
      if (this.tellsApart) this.#watches(hold, wait, release, promise, limits)
    }
    if (isAbandoned || events.admit.hasSubscribers) {
      this.tells(mode, units, isAbandoned, wait === undefined ? 0 : since - wait.since, waiter)
    }
    return hold
  }

  /** Records the end of a wait by a grant. */
  waited(waiter, wait, since) {
    const { tally } = this
    waiter.wait = undefined
    tally.totals.contended++
    tally.waits.add(since - wait.since)
    if (!wait.isSync) this.#left(wait)
  }

  #adds(mode, units, since) {
    const { latest } = this
    const hold = new Claim(this, mode, units, since)
    this.holds.add(hold)
    this.latest = hold
    if (latest?.units === 0 && !latest.isOver) this.#drops(latest)
    return hold
  }

  #watches(hold, wait, release, promise, limits) {
    if (this.isFull) hold.trace = wait?.trace ?? new Trace()
    watchHold(hold)
    if (!this.isFull) return
    // The hold must not keep the wait alive: its promise refers to the releaser, which must stay collectable.
    if (this.isFollowed) deadlock.holds(hold, wait ?? null)
    this.gave(release, promise, limits)
  }

  /** Called when the caller of the latest hold gets `release` or `promise`. It has `limits` if it did not wait. */
  gave(release, promise, limits) {
    if (!this.isFull || this.latest === null) return
    if (release instanceof Object) watchRelease(this.latest, release)
    if (promise !== undefined && this.isFollowed) deadlock.gives(this.latest, promise, limits)
  }

  /** Called when a blocking call with these limits has got the latest hold without a wait. */
  blocked({ timeout }) {
    if (this.isOrdered && timeout > 0 && this.latest !== null) deadlock.blocked(this.latest)
  }

  /** Returns block(), which may block this thread: see blocking.js. */
  blocks(lock, ask, limits, block, hold) {
    return blocks(this, lock, ask, limits, block, hold)
  }

  tells(mode, units, isAbandoned, waited, waiter) {
    events.publish(events.admit, this, mode, units, { waited }, waiter)
    if (!isAbandoned) return
    this.tally.totals.abandoned++
    events.publish(events.abandoned, this, mode, units)
  }

  /**
   * Called when `units` of `hold` are about to be released. Removes an empty hold. With 'counters' the latest hold
   * stays, for further grants of this callback.
   */
  ended(hold, units) {
    if (hold === null || hold === undefined || hold.units === 0) return
    const released = Math.min(units, hold.units)
    // First, because a subscriber may release the lock, too.
    hold.units -= released
    this.tally.holds.add(this.time() - hold.since)
    if (events.release.hasSubscribers) this.tellsRelease(hold.mode, released, hold.since)
    if (hold.units === 0 && (this.tellsApart || hold !== this.latest)) this.#drops(hold)
  }

  #drops(hold) {
    hold.isOver = true
    this.holds.delete(hold)
    if (this.tellsApart && hold === this.latest) this.latest = null
    if (this.tellsApart) endWatch(hold)
    if (this.isFollowed) deadlock.releases(hold)
  }

  tellsRelease(mode, units, since) {
    events.publish(events.release, this, mode, units, { held: ago(since) })
  }

  /** Called when `units` of a semaphore are about to be released without a releaser. 0 for setValue(). */
  endedOldest(units) {
    if (this.isSought) deadlock.loosens(this.lock)
    let rest = units
    for (const hold of this.holds) {
      if (rest === 0) return
      const some = Math.min(rest, hold.units)
      rest -= some
      if (some > 0) this.ended(hold, some)
    }
  }

  /**
   * Called when a method of this observer has thrown. The observer has missed a step, so its holds and waits may be
   * over: excludes them from the detection of deadlocks.
   */
  failed(error) {
    failed(this, error)
    if (!this.isFollowed) return
    Object.assign(this, { isSought: false, isFollowed: false, isOrdered: false })
    for (const wait of this.waits) deadlock.endsAsk(wait)
    for (const hold of this.holds) deadlock.releases(hold)
  }

  holders(time) {
    return [...this.holds].flatMap((hold) => eachOf(hold, time))
  }

  oldestWait(time) {
    for (const { count, since } of this.waits) if (count > 0) return time - since
    return undefined
  }

  seen(held) {
    return seenOf(this, held)
  }

  describeHolders() {
    const { lock } = this
    const { holders } = lock.snapshot()
    // Over an engine the observer may have come with a later object of the lock, during a hold.
    const isEarlier = holders.length === 0 && lock.scope === 'cluster' && lock.isLocked()
    return isEarlier ? 'held by a caller that came before its diagnostics' : textOfHolders(holders)
  }

  reports() {
    return [reportOf(this)]
  }
}

module.exports = { Observer }
