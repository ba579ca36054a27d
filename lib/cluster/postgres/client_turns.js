'use strict'
// The calls of withTransaction() on one client run one after the other, whichever object they are of: a call that rolls back
// to its savepoint would undo what another call has acquired since.
const { inTime } = require('../patience.js')

/** By client: the end of its last call. */
const ends = new WeakMap()

/**
 * Settles as work(), which runs when the calls before on `client` have ended, and at once if there are none. Rejects with
 * makeLateError() if they have not ended after `timeout` ms, unless that is undefined.
 */
async function inTurn(client, work, timeout, makeLateError) {
  const before = ends.get(client)
  let end
  const own = new Promise((resolve) => {
    end = resolve
  })
  ends.set(client, own)
  const forget = () => {
    if (ends.get(client) === own) ends.delete(client)
  }
  try {
    if (before !== undefined)
      await (timeout === undefined ? before : inTime(before, timeout, makeLateError))
  } catch (error) {
    // The next call still waits for the calls before this one.
    end(before)
    own.then(forget)
    throw error
  }
  try {
    return await work()
  } finally {
    // A statement that the caller sends after this call must not overtake the one of its next call.
    forget()
    end()
  }
}

module.exports = { inTurn }
