'use strict'

/**
 * Browsers, and Node's fetch, open connections before they need them. A server that closes waits for
 * the idle ones of its clients to end, but does not count as idle what has never carried a request,
 * and waits for those until they time out.
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
