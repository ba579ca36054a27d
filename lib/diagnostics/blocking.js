'use strict'
// Blocking calls of locks with an observer.
const { ago, endTurn } = require('./clock.js')
const deadlock = require('./deadlock.js')
const { publishWait } = require('./events.js')

/**
 * Returns block(), which may block this thread to acquire `ask` of `lock`. `hold` is the hold that an upgrade replaces.
 */
function blocks(observer, lock, ask, { timeout, priority }, block, hold) {
  const isNeeded = lock.isTaken(ask)
  if (isNeeded) endTurn()
  const wait = observer.begins(lock.modeOf(ask), ask)
  Object.assign(wait, { isSync: true, hold, priority })
  try {
    if (isNeeded && timeout > 0) {
      publishWait(observer, wait, wait.mode, ask)
      if (observer.isFollowed) deadlock.asks(wait)
    }
    if (isNeeded) endTurn()
    // An upgrade records its grant inside block(). For other grants set `admitted` afterwards, because block() may
    // first admit waiters of this thread.
    if (isNeeded && hold !== undefined) lock.admitted = { wait, told: wait.told }
    const result = block()
    if (isNeeded && hold === undefined) lock.admitted = { wait, told: wait.told }
    return result
  } catch (error) {
    lock.admitted = null
    if (isMiss(error)) observer.missed(wait.mode, ask, error, ago(wait.since), wait)
    throw error
  } finally {
    if (observer.isFollowed) deadlock.endsAsk(wait)
  }
}

const isMiss = ({ code }) => code === 'ERR_LOCK_TIMEOUT' || code === 'ERR_LOCK_DEADLOCK'

module.exports = { blocks }
