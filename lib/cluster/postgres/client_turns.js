'use strict'
// The order of the calls of withTransaction() on one client, whichever objects they are of. A call with a savepoint runs
// alone: it would undo what another call has acquired since. Plain calls, which have none, are sent at once, so that no
// statement that their caller sends next overtakes them.
const { inTime } = require('../patience.js')

/** By client, its last call: { isPlain, ended }. `ended` is a promise for the end of it and of all calls before it. */
const lastCalls = new WeakMap()

/**
 * Settles as work(), which runs when the calls before on `client` have ended that it may not run beside. Rejects with
 * makeLateError() if they have not ended after `timeout` ms, unless that is undefined.
 */
async function inTurn(client, work, { isPlain, timeout, makeLateError }) {
  const before = lastCalls.get(client)
  const own = { isPlain }
  let end
  own.ended = new Promise((resolve) => {
    end = resolve
  })
  lastCalls.set(client, own)
  const forget = () => {
    if (lastCalls.get(client) === own) lastCalls.delete(client)
  }
  try {
    if (before !== undefined && !(isPlain && before.isPlain))
      await (timeout === undefined ? before.ended : inTime(before.ended, timeout, makeLateError))
    return await work()
  } finally {
    // Without a call before, at once: a statement that the caller sends now must not overtake the one of its next call.
    if (before === undefined) forget()
    else own.ended.then(forget)
    end(before?.ended)
  }
}

module.exports = { inTurn }
