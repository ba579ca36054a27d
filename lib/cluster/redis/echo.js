'use strict'
// Checks whether messages of the server still arrive. A connection answers pings although its server is a replica by now,
// and a cluster's client does not notice that a slot with a channel has moved, or that one of its connections is silent.
// So a listening connection is pinged by a message to its own channels, which the client of the commands sends.
const { randomUUID } = require('node:crypto')

/**
 * The connection that `listen(onMessage)` makes, as in ../subscription.js, with another ping(). publish(text) sends to all
 * its channels, and resolves to how many listeners the server knows for each. A server of a cluster knows only some.
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
      // The client of the commands is in trouble, which says nothing about this connection.
      return ping?.call(connection)
    }
    if (!isCluster && counts.some((count) => Number(count) === 0)) throw strayedError()
    return new Promise((resolve) => {
      onArrival = () => arrived >= counts.length && resolve()
      onArrival()
    })
  }
  return connection
}

const strayedError = () =>
  new Error('the connection that listens is not at the server of the commands any more')

module.exports = { echoing }
