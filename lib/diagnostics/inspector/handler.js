'use strict'
// The inspector for node:http and frameworks built on it.
const { senderAt } = require('./request.js')
const { makeRoutes, unreadable } = require('./routes.js')

function makeInspector(source, options) {
  const answerTo = makeRoutes(source, options)

  return function inspect(request, response, next) {
    answerTo(partsOf(request), next !== undefined)
      .then((answer) => (answer === undefined ? next() : send(response, answer)))
      .catch((error) => (next === undefined ? send(response, unreadable(error)) : next(error)))
  }
}

function partsOf({ method, url, headers, socket }) {
  return {
    method,
    url,
    // HTTP/2 has `:authority` in place of Host.
    host: headers.host ?? headers[':authority'],
    header: (name) => headers[name],
    sender: senderOf(socket),
  }
}

/**
 * Returns the kind of sender. A connection through a Unix socket or a named pipe has no address, and comes from this
 * machine. Any other connection without an address, such as a stream that the program passes to its server, may come
 * from anywhere.
 */
function senderOf(socket) {
  const { remoteAddress } = socket
  if (remoteAddress !== undefined) return senderAt(remoteAddress)
  return isPipe(socket._handle) ? 'local' : 'unknown'
}

/**
 * Whether `handle` is of a pipe, which Node.js has no public way to tell. A TLS handle contains the connection's
 * handle.
 */
function isPipe(handle) {
  return (handle?._parent ?? handle)?.constructor.name === 'Pipe'
}

/** Sends the answer. For HEAD Node.js omits the body. */
function send(response, { status, headers, body }) {
  // The locks were read after the call. Meanwhile a time limit of the server may have answered.
  if (response.headersSent || response.writableEnded) return
  response.writeHead(status, headers)
  response.end(body)
}

module.exports = { makeInspector }
