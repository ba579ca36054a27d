'use strict'
// Sends the commands of the renewing thread. Most clients reconnect by themselves when the connection ends. But after a
// failover behind a stable address a client may stay connected to a replica, and a connection may fall silent without
// an end. Then the next command makes another client.
const { inTime, noAnswer } = require('../patience.js')

/** Whether the error shows that the server has become a replica, to which this connection leads from now on. */
const isDemoted = ({ message }) => /\bREADONLY\b/.test(message)

/**
 * start({ report, drop }) makes a client: { opening, command(key, words), close() }. `opening` settles with the client's
 * first attempt to connect. The client calls report(error) when it is not connected, report(undefined) when it is, and
 * drop(error) when it is of no use any more. `trouble` passes the reports to the renewing thread.
 */
function replaced(start, trouble) {
  let current

  function make() {
    const made = { last: undefined, error: undefined }
    const report = (error) => {
      made.last = error
      if (current === made) trouble(error)
    }
    const dropThis = (error) => drop(made, error)
    made.client = start({ report, drop: dropThis })
    made.client.opening.catch(dropThis)
    return made
  }

  /** The commands that wait for its answers reject with the same error, which says more than the client's. */
  function drop(made, error) {
    if (current !== made) return
    current = undefined
    made.error = error
    made.client.close()
  }

  /** Sends a command. Rejects if the server has not answered after `time` ms. */
  async function command(key, words, time) {
    current ??= make()
    const used = current
    const late = () => {
      drop(used, used.last ?? noAnswer(time))
      return used.error
    }
    const send = async () => {
      await used.client.opening
      return used.client.command(key, words)
    }
    try {
      return await inTime(send(), time, late)
    } catch (error) {
      if (isDemoted(error)) drop(used, error)
      throw used.error ?? error
    }
  }

  return { command, close: async () => current?.client.close() }
}

module.exports = { replaced }
