'use strict'
// Warnings of holds that take longer than their locks' `warnAfter`. Those of one length stand in the order in which
// they began, which is that in which they are due; one timer of the thread is for the first that is due of all.
// Whoever lets go leaves the timer alone: it looks again when it goes off, so that a lock that is held for moments
// only costs no timer each.
const { clearTimeout, setTimeout } = require('node:timers')
const { now } = require('./clock.js')
const { longestTimeout } = require('../core/options.js')
const { longHold } = require('./warnings.js')
const native = require('../load.js')

/** By length: those that have not been warned of. */
const queues = new Map()
let timer
let dueAt = Infinity

// A timer that is left alone does not keep the vm context of this instance until it goes off.
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
