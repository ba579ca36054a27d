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

/** `source` for all who ask while it is read, or within `freshFor` of that. */
function shared(source) {
  let latest
  return () => {
    if (latest !== undefined) return latest
    const reading = source()
    const forget = () => {
      latest = undefined
    }
    latest = reading
    // What was read is not kept when nobody looks any more. A failure is for those who have asked, and no other.
    reading.then(() => setTimeout(forget, freshFor).unref(), forget)
    return reading
  }
}

function makeInspector(source, options = {}) {
  const allowed = readOptions(options)
  const read = shared(source)

  async function answer(request, response, { route, ...asked }) {
    checkAllowed(request, allowed)
    if (route === 'page') return send(response, 200, 'text/html', page)
    send(response, 200, 'application/json', JSON.stringify(reportOf(await read(), asked)))
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
