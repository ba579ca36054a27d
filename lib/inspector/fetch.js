'use strict'
// The inspector for servers of the fetch style, which turn a Request into a Response.
const { checkObject } = require('../core/options.js')
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

/** A Request does not say from where it comes, which only the server knows. */
function partsOf({ method, url, headers }, { remoteAddress }) {
  const { host, pathname, search } = new URL(url)
  const header = (name) => headers.get(name) ?? undefined
  return {
    method,
    url: pathname + search,
    // Servers may make the URL of a Request of a name of their own. HTTP/2 has no Host: it is in the URL.
    host: header('host') ?? host,
    header,
    sender: remoteAddress === undefined ? 'unknown' : senderAt(remoteAddress),
  }
}

module.exports = { makeFetchInspector }
