'use strict'
// Locks of one kind and name over one engine whose settings differ: they are one lock at the server, so onIdle() of each
// waits for the callers of all.
const { IdlePromise } = require('../core/lock.js')
const platform = require('../core/platform.js')

/** The promise of onIdle() of all locks of a name. */
class CommonPromise extends IdlePromise {
  drop(lock) {
    if ([...lock.alike].some((one) => !one.isIdle())) return
    for (const one of lock.alike) super.drop(one)
  }
}

/** `lock` is one of `alike` from now on. */
function join(lock, alike) {
  const [other] = alike
  lock.alike = alike.add(lock)
  lock.idleListener = other?.idleListener ?? null
}

/** Resolves when all locks like `lock`, and itself, are idle. */
async function allIdle({ alike }) {
  const busy = [...alike].find((one) => !one.isIdle())
  if (busy === undefined) return
  const listener = busy.idleListener ?? new CommonPromise()
  for (const one of alike) {
    one.idleListener = listener
    // Any of them may be the last one.
    platform.trackWaits(one)
  }
  await listener.promise
}

module.exports = { allIdle, join }
