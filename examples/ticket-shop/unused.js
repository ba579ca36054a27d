'use strict'

/**
 * Browsers, and Node's fetch, open connections before they need them. A closing server ends idle
 * connections, but a connection that has never carried a request does not count as idle: the server
 * would wait until it times out.
 *
 * @param {import('node:http').Server} server
 * @returns closes the connections that carry no request, now and from now on
 */
module.exports = function trackUnused(server) {
  const unused = new Set()
  let closing = false

  server.on('connection', (socket) => {
    if (closing) return socket.destroy()
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.on('request', ({ socket }) => unused.delete(socket))

  return () => {
    closing = true
    for (const socket of unused) socket.destroy()
  }
}
