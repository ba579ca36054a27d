'use strict'
// The messages to subscribers of node:diagnostics_channel, published synchronously in the thread of the event.
const { channel } = require('node:diagnostics_channel')
const { threadId } = require('node:worker_threads')

const wait = channel('boxoffice:wait')
const admit = channel('boxoffice:admit')
const release = channel('boxoffice:release')
const timeout = channel('boxoffice:timeout')
const abort = channel('boxoffice:abort')
const abandoned = channel('boxoffice:abandoned')
const deadlock = channel('boxoffice:deadlock')

/**
 * Publishes an event of a caller that holds or waits for `units` of the lock of `observer`, with `more` properties. The
 * event that ends the wait of `waiter` has the identity of the wait if its begin was published.
 */
function publish(event, observer, mode, units, more, waiter) {
  if (!event.hasSubscribers) return
  const { kind, name, scope, lock } = observer
  const weight = mode === undefined ? units : undefined
  const message = { kind, name, key: lock.key, scope, mode, weight, thread: threadId, ...more }
  if (waiter?.told !== undefined) message.wait = waiter.told
  event.publish(message)
}

/**
 * Publishes that a caller has begun to wait. `waiter.told` identifies the wait in its later events, which are published
 * in the async context of the release, not of the caller.
 */
function publishWait(observer, waiter, mode, units) {
  if (!wait.hasSubscribers) return
  waiter.told = Object.freeze({})
  publish(wait, observer, mode, units, undefined, waiter)
}

module.exports = { abandoned, abort, admit, deadlock, publish, publishWait, release, timeout }
