'use strict'
// Waiters of an engine look by themselves after some seconds, in case a message was lost, and callers give up on a server
// that does not answer. Tests of messages and of reasons hold these timers back, so that it does not matter how fast
// messages and reasons come.
const { hubOf } = require('../../../lib/cluster/engine.js')

/** Shorter timers repeat a failed command. */
const leastTime = 500

/**
 * From now on no longer timer of `engine`, which is used by one test only, fires before fire() is called. A waiter gets its
 * turn by messages only.
 */
function stillTimers(engine) {
  const hub = hubOf(engine)
  const { clock } = hub
  const still = new Map()
  hub.clock = {
    now: clock.now,
    setTimeout(call, time) {
      if (time < leastTime) return clock.setTimeout(call, time)
      const timer = { unref: () => timer }
      still.set(timer, call)
      return timer
    },
    clearTimeout(timer) {
      if (!still.delete(timer)) clock.clearTimeout(timer)
    },
  }
  return {
    fire() {
      for (const [timer, call] of [...still]) if (still.delete(timer)) call()
    },
  }
}

module.exports = { stillTimers }
