'use strict'
// What each request is answered with: `source` is the snapshot of the process. What kind of server asks is for
// handler.js and fetch.js.
//
// The page asks for its data again and again, once it has drawn the last. So nothing in here is open between two
// requests: no stream, no timer that needs to be stopped, and nothing is read between requests.
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

/** Calls `source` once for all requests that come meanwhile, or within `freshFor` of its answer. */
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
    // A snapshot is kept for `freshFor`. A failure is the answer to the requests that wait for it, and to no later one.
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

/**
 * A function that answers a request, see request.js for its parts, with { status, headers, body }, or with undefined
 * where a router has mounted the routes (`isMounted`) and the URL is none of them. It rejects when the locks cannot
 * be read.
 */
function makeRoutes(source, options = {}) {
  const allowed = readOptions(options)
  const read = shared(source)

  return async (request, isMounted) => {
    try {
      const asked = readUrl(request.url, isMounted)
      if (asked === undefined) return undefined
      checkAllowed(request, allowed)
      return asked.route === 'page'
        ? answer(200, 'text/html', page)
        : answer(200, 'application/json', await read(asked))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return answer(error.status, 'text/plain', `${error.message}\n`, error.headers)
    }
  }
}

/** The answer where makeRoutes() rejects, and no router has a better one. */
function unreadable(error) {
  return answer(500, 'text/plain', `The locks cannot be read: ${error.message}\n`)
}

function answer(status, type, body, more) {
  const headers = {
    ...usualHeaders,
    ...more,
    'content-type': `${type}; charset=utf-8`,
    'content-length': `${Buffer.byteLength(body)}`,
  }
  return { status, headers, body }
}

module.exports = { makeRoutes, unreadable }
