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

function partsOf({ method, url, headers, socket: { remoteAddress } }) {
  return {
    method,
    url,
    // HTTP/2 has `:authority` in place of Host.
    host: headers.host ?? headers[':authority'],
    header: (name) => headers[name],
    // A connection through a Unix socket has no address, and comes from this machine.
    sender: remoteAddress === undefined ? 'local' : senderAt(remoteAddress),
  }
}

/** Node.js omits the body of an answer to HEAD. */
function send(response, { status, headers, body }) {
  // The locks are read later than the call: a time limit of the server may have answered, or begin to.
  if (response.headersSent || response.writableEnded) return
  response.writeHead(status, headers)
  response.end(body)
}

module.exports = { makeInspector }
