'use strict'
// Checks whether a listening connection still receives messages. An answer to a ping does not prove that: the server
// may have become a replica, and the client of a cluster does not notice that a channel's slot has moved, or that one
// of its connections is silent. So the client of the commands sends a message to the session's channels instead.
const { randomUUID } = require('node:crypto')

/**
 * Returns the connection that `listen(onMessage)` makes (../subscription.js), with a ping() that resolves when
 * such a message has arrived on all channels, and with again() if it has none. publish(text) sends it, and resolves to
 * the number of listeners of each channel, as far as the server knows: a server of a cluster knows only its own.
 */
function echoing(listen, onMessage, publish, isCluster) {
  let onEcho
  const connection = listen((text) => (text[0] === 'e' ? onEcho?.(text) : onMessage(text)))
  const { ping } = connection

  connection.ping = async () => {
    const text = `e${randomUUID()}`
    let arrived = 0
    let onArrival
    onEcho = (one) => {
      if (one !== text) return
      arrived++
      onArrival?.()
    }
    let counts
    try {
      counts = await publish(text)
    } catch {
      // The client of the commands has failed, which says nothing about this connection. Send a usual ping.
      return ping?.call(connection)
    }
    if (!isCluster && counts.some((count) => Number(count) === 0)) throw strayedError()
    return new Promise((resolve) => {
      onArrival = () => arrived >= counts.length && resolve()
      onArrival()
    })
  }
  connection.again ??= async (channel) => {
    await connection.stop(channel)
    await connection.listen(channel)
  }
  return connection
}

const strayedError = () =>
  new Error('the connection that listens is not at the server of the commands any more')

module.exports = { echoing }
