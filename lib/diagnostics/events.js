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

/** An event of a caller that holds or waits for `units` of the lock of `observer`, with `more` properties. */
function publish(event, observer, mode, units, more) {
  if (!event.hasSubscribers) return
  const { kind, name, scope, lock } = observer
  const weight = mode === undefined ? units : undefined
  event.publish({ kind, name, key: lock.key, scope, mode, weight, thread: threadId, ...more })
}

/**
 * A caller has begun to wait. From then on `waiter.told` identifies this wait in its later events, which are published in
 * the releaser's async context, not in the caller's.
 */
function publishWait(observer, waiter, mode, units) {
  if (!wait.hasSubscribers) return
  waiter.told = Object.freeze({})
  publish(wait, observer, mode, units, { wait: waiter.told })
}

/** The event that ends the wait of `waiter`, if its begin was published: `more` says how. */
const withWait = (waiter, more) =>
  waiter?.told === undefined ? more : { ...more, wait: waiter.told }

module.exports = {
  abandoned,
  abort,
  admit,
  deadlock,
  publish,
  publishWait,
  release,
  timeout,
  withWait,
}
