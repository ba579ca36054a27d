'use strict'
// Warnings about holds that last longer than their lock's `warnAfter`. Holds of one `warnAfter` are due in the order in
// which they began, so each length has a list in that order. The thread has one timer, for the hold that is due first. A
// release leaves the timer running, and the timer checks when it fires: short holds cost no timer each.
const { clearTimeout, setTimeout } = require('../core/builtins.js')
const { now } = require('./clock.js')
const { longestTimeout } = require('../core/options.js')
const { longHold } = require('./warnings.js')
const native = require('../addon/load.js')

/** By `warnAfter`: holds without a warning so far. */
const queues = new Map()
let timer
let dueAt = Infinity

// Weakly: a running timer must not keep the vm context of this instance.
const weakly = native.realm.weakly(native, { look })

function watchHold(hold) {
  const { warnAfter } = hold.observer.settings
  if (warnAfter > longestTimeout) return
  let queue = queues.get(warnAfter)
  if (queue === undefined) {
    queue = new Set()
    queues.set(warnAfter, queue)
  }
  queue.add(hold)
  if (hold.since + warnAfter < dueAt) lookAt(hold.since + warnAfter)
}

function endWatch(hold) {
  queues.get(hold.observer.settings.warnAfter)?.delete(hold)
}

function lookAt(time) {
  clearTimeout(timer)
  dueAt = time
  timer = setTimeout(weakly.look, Math.max(1, time - now())).unref()
}

function look() {
  const time = now()
  dueAt = Infinity
  let next = Infinity
  for (const [warnAfter, queue] of queues) {
    for (const hold of queue) {
      if (hold.since + warnAfter > time) {
        next = Math.min(next, hold.since + warnAfter)
        break
      }
      queue.delete(hold)
      longHold(hold, time - hold.since)
    }
    if (queue.size === 0) queues.delete(warnAfter)
  }
  if (next < Infinity) lookAt(next)
}

module.exports = { endWatch, watchHold }
