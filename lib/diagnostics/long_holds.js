'use strict'
// Acts on holds that last longer than some length, and on releasers that are collected as garbage before they are called.
const { clearTimeout, setImmediate, setTimeout } = require('../core/builtins.js')
const { apart } = require('./chains.js')
const { now } = require('./clock.js')
const { longestTimeout } = require('../core/options.js')
const { leaked, longHold } = require('./warnings.js')
const native = require('../addon/load.js')

/**
 * Each length has a list of holds in the order in which they began, which is also the order in which they are due.
 * There is one timer, for the hold that is due first. A release leaves the timer running, and the timer checks when it
 * fires, so that short holds cost no timers.
 */
class Lasting {
  /** The holds that are not due yet, by length. */
  #queues = new Map()
  #timer
  #dueAt = Infinity
  #act
  // A weak reference, because a running timer must not keep the vm context of this instance alive.
  #weakly = native.realm.weakly(native, { look: () => this.#look() })

  /** Calls `act(hold, heldFor)` once for each hold that lasts longer than its length. */
  constructor(act) {
    this.#act = act
  }

  watch(hold, length) {
    if (length > longestTimeout) return
    let queue = this.#queues.get(length)
    if (queue === undefined) {
      queue = new Set()
      this.#queues.set(length, queue)
    }
    queue.add(hold)
    this.#lookBy(hold.since + length)
  }

  end(hold, length) {
    this.#queues.get(length)?.delete(hold)
  }

  #lookBy(time) {
    if (time >= this.#dueAt) return
    clearTimeout(this.#timer)
    this.#dueAt = time
    const rest = Math.max(1, time - now())
    // The timer is made outside of the caller's async context: as part of the caller's chain it would hide a deadlock,
    // and it would keep the caller's AsyncLocalStorage stores, as would each timer that it starts.
    this.#timer = native.realm.outside(() => setTimeout(this.#weakly.look, rest).unref())
  }

  #look() {
    const time = now()
    this.#dueAt = Infinity
    for (const [length, queue] of this.#queues) {
      for (const hold of queue) {
        if (hold.since + length > time) {
          this.#lookBy(hold.since + length)
          break
        }
        queue.delete(hold)
        this.#act(hold, time - hold.since)
      }
      if (queue.size === 0) this.#queues.delete(length)
    }
  }
}

const warnings = new Lasting(longHold)

/** How long the frames of a hold stay unread, in milliseconds. Reading them takes longer than most holds last. */
const unreadFor = 1000
/**
 * Reads the frames of longer holds. Unread frames keep the receivers of their calls alive. If one of these has the
 * releaser, it could never be collected and reported as leaked.
 */
const traces = new Lasting(({ trace }) => trace.read())

const releasers = new FinalizationRegistry((hold) => {
  if (hold.isOver) return
  hold.isLeaked = true
  leaked(hold)
})

/**
 * The holds with full diagnostics that began in this turn of the event loop, each with its releaser, if known. Most end
 * in the same turn.
 */
const fresh = new Map()
let isDue = false

/** Watches `hold` until endWatch(). */
function watchHold(hold) {
  const { settings, isFull } = hold.observer
  if (settings.warnAfter !== undefined) warnings.watch(hold, settings.warnAfter)
  if (!isFull) return
  fresh.set(hold, undefined)
  if (isDue) return
  isDue = true
  apart(() => setImmediate(endTurn).unref())
}

/** Begins to watch the releasers of the holds that outlast the turn. Shorter holds do not pay for that. */
function endTurn() {
  isDue = false
  for (const [hold, release] of fresh) {
    traces.watch(hold, unreadFor)
    if (release !== undefined) releasers.register(release, hold, hold)
  }
  fresh.clear()
}

/** Watches `release`, the only releaser of `hold`. */
function watchRelease(hold, release) {
  if (fresh.has(hold)) fresh.set(hold, release)
  else releasers.register(release, hold, hold)
}

function endWatch(hold) {
  const { settings, isFull } = hold.observer
  if (settings.warnAfter !== undefined) warnings.end(hold, settings.warnAfter)
  if (!isFull || fresh.delete(hold)) return
  traces.end(hold, unreadFor)
  // Entries of called releasers would pile up until the next garbage collection.
  releasers.unregister(hold)
}

module.exports = { endWatch, watchHold, watchRelease }
