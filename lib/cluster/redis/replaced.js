'use strict'
// The client of a renewing thread. It reconnects by itself when its connection ends. But a failover behind a stable
// address may leave it at a server that has become a replica, and a connection may fall silent without an end. Then
// another client takes its place, with the next command.
const { inTime, noAnswer } = require('../patience.js')

/** The server is a replica, and stays one for this connection. */
const isDemoted = ({ message }) => /\bREADONLY\b/.test(message)

/**
 * start(trouble) makes a client: { opening, command(key, words), close() }, where `opening` is a promise for its first
 * connection. It reports why it is not connected, and undefined when it is. `trouble` is of the renewing thread.
 */
function replaced(start, trouble) {
  let current

  function make() {
    const made = { last: undefined, hasFailed: false }
    const report = (error) => {
      made.last = error
      if (current === made) trouble(error)
    }
    made.client = start(report)
    // A command waits for `opening`, and rejects with its error.
    made.client.opening.catch(() => {
      made.hasFailed = true
    })
    return made
  }

  function drop(made) {
    if (current !== made) return
    current = undefined
    made.client.close()
  }

  /** Rejects after `time` ms, if the server has not answered by then. */
  async function command(key, words, time) {
    current ??= make()
    const used = current
    let isSilent = false
    const late = () => {
      isSilent = true
      return used.last ?? noAnswer(time)
    }
    const send = async () => {
      await used.client.opening
      return used.client.command(key, words)
    }
    try {
      return await inTime(send(), time, late)
    } catch (error) {
      if (isSilent || used.hasFailed || isDemoted(error)) drop(used)
      throw error
    }
  }

  return { command, close: async () => current?.client.close() }
}

module.exports = { replaced }
