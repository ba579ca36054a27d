'use strict'
// A handler of requests that shows what `source`, the snapshot of the process, tells.
//
// The page asks for its data again and again, once it has drawn the last. So nothing in here is open between two
// requests: no stream, no timer that somebody must stop, and nothing is read while nobody looks.
const { readOptions } = require('./options.js')
const { page, policy } = require('./page.js')
const { reportOf } = require('./report.js')
const { checkAllowed, readUrl, Refusal } = require('./request.js')

/** However many look, the locks are read no more often than this, in milliseconds. */
const freshFor = 200

const usualHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** What `source` tells is read once for all who ask meanwhile, or within `freshFor` of that. */
function shared(source) {
  let reading
  let said
  const forget = () => {
    reading = undefined
    said = undefined
  }

  function read() {
    if (reading !== undefined) return reading
    reading = source()
    // What was read is not kept when nobody looks any more. A failure is for those who have asked, and no other.
    reading.then(() => setTimeout(forget, freshFor).unref(), forget)
    return reading
  }

  /** The report as JSON. That of the last who asked is for the next one, too: all pages ask the same. */
  return async ({ top, filter }) => {
    const snapshot = await read()
    if (said?.top !== top || said.filter !== filter) {
      said = { top, filter, body: JSON.stringify(reportOf(snapshot, { top, filter })) }
    }
    return said.body
  }
}

function makeInspector(source, options = {}) {
  const allowed = readOptions(options)
  const read = shared(source)

  async function answer(request, response, { route, ...asked }) {
    checkAllowed(request, allowed)
    if (route === 'page') return send(response, 200, 'text/html', page)
    send(response, 200, 'application/json', await read(asked))
  }

  return function inspect(request, response, next) {
    const fail = (error) => {
      if (error instanceof Refusal) refuse(response, error)
      else if (next !== undefined) next(error)
      else refuse(response, new Refusal(500, `The locks cannot be read: ${error.message}`))
    }
    let asked
    try {
      asked = readUrl(request.url, next !== undefined)
    } catch (error) {
      return fail(error)
    }
    if (asked === undefined) next()
    else answer(request, response, asked).catch(fail)
  }
}

function refuse(response, { status, message, headers }) {
  send(response, status, 'text/plain', `${message}\n`, headers)
}

/** The body of an answer to HEAD Node leaves out. */
function send(response, status, type, body, headers) {
  response.writeHead(status, {
    ...usualHeaders,
    ...headers,
    'content-type': `${type}; charset=utf-8`,
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}

module.exports = { makeInspector }
