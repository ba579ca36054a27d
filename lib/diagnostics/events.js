'use strict'
// What subscribers of node:diagnostics_channel are told, in the thread where it happens, in the middle of it.
const { channel } = require('node:diagnostics_channel')
const { threadId } = require('node:worker_threads')

const wait = channel('boxoffice:wait')
const admit = channel('boxoffice:admit')
const release = channel('boxoffice:release')
const timeout = channel('boxoffice:timeout')
const abort = channel('boxoffice:abort')
const abandoned = channel('boxoffice:abandoned')
const deadlock = channel('boxoffice:deadlock')

/** What has happened to a caller that has, or wants, `units` of the lock of `observer`, and `more`. */
function publish(event, observer, mode, units, more) {
  if (!event.hasSubscribers) return
  const { kind, name, scope, lock } = observer
  const weight = mode === undefined ? units : undefined
  event.publish({ kind, name, key: lock.key, scope, mode, weight, thread: threadId, ...more })
}

/**
 * A caller has begun to wait. `waiter` has `told` from then on, an object that stands for this wait in its later events:
 * these are told in the releaser's async context, not in that of the caller.
 */
function publishWait(observer, waiter, mode, units) {
  if (!wait.hasSubscribers) return
  waiter.told = Object.freeze({})
  publish(wait, observer, mode, units, { wait: waiter.told })
}

/** What events tell of the wait that `waiter` has begun, if it has: `more` says how it went. */
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
