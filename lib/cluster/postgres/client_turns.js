'use strict'
// Orders the calls of all withTransaction() objects of one client. A call with a savepoint runs alone, because its
// rollback would also release what another call has acquired since. Calls without a savepoint are plain: they run at
// once beside each other, so that no statement that the caller sends next overtakes them.
const { inTime } = require('../patience.js')

/** The last call on each client: { isPlain, ended }. `ended` resolves when it and all earlier calls have ended. */
const lastCalls = new WeakMap()

/**
 * Runs work() in its turn on `client`, and settles as it does. A plain call waits only for calls that are not plain. If
 * the wait takes `timeout` ms, rejects with makeLateError().
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
    // Forget at once if possible, so that the caller's next call need not wait: statements could overtake it.
    if (before === undefined) forget()
    else own.ended.then(forget)
    end(before?.ended)
  }
}

module.exports = { inTurn }
