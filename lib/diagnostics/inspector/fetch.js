'use strict'
// The inspector for servers that turn a Request into a Response.
const { checkObject } = require('../../core/options.js')
const { senderAt } = require('./request.js')
const { makeRoutes, unreadable } = require('./routes.js')

function makeFetchInspector(source, options) {
  const answerTo = makeRoutes(source, options)

  return async function inspect(request, from = {}) {
    checkObject(from)
    const { status, headers, body } = await answerTo(partsOf(request, from), false).catch(
      unreadable,
    )
    return new Response(request.method === 'HEAD' ? null : body, { status, headers })
  }
}

/** Returns the parts of a request. The server passes the sender's address, which a Request does not contain. */
function partsOf({ method, url, headers }, { remoteAddress }) {
  const { host, pathname, search } = new URL(url)
  const header = (name) => headers.get(name) ?? undefined
  return {
    method,
    url: pathname + search,
    // Prefer the Host header: servers may build the URL with a name of their own. HTTP/2 has no Host, but the URL has it.
    host: header('host') ?? host,
    header,
    sender: remoteAddress === undefined ? 'unknown' : senderAt(remoteAddress),
  }
}

module.exports = { makeFetchInspector }
