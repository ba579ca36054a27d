'use strict'
// Answers requests with the snapshot that `source` makes. handler.js and fetch.js adapt the answers to servers.
//
// The page asks for new data after it has drawn the last. So nothing stays open between two requests: there is no
// stream and no timer to stop, and no lock is read.
const { setImmediate, setTimeout } = require('../../core/builtins.js')
const { LocalMutex } = require('../../core/mutex.js')
const { readOptions } = require('./options.js')
const { page, policy } = require('./page.js')
const { reportOf, sortedOf } = require('./report.js')
const { checkAllowed, readUrl, Refusal } = require('./request.js')

/** The shortest time between two readings of the locks, for any number of pages, in milliseconds. */
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

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/**
 * Returns a function that makes reports. It calls `source` once for all requests until `freshFor` after its answer.
 * Requests with the same filter and limit share one report.
 */
function shared(source) {
  /** Makes each report in a separate turn of the event loop, because it takes long with tens of thousands of keys. */
  const turns = new LocalMutex()
  let reading
  const forget = () => {
    reading = undefined
  }

  function read() {
    if (reading !== undefined) return reading
    reading = source().then((snapshot) => ({ sorted: sortedOf(snapshot), bodies: new Map() }))
    // Keep a snapshot for `freshFor`. Forget a failure as soon as the waiting requests are answered.
    reading.then(() => setTimeout(forget, freshFor).unref(), forget)
    return reading
  }

  return async (asked) => {
    const { sorted, bodies } = await read()
    const id = JSON.stringify([asked.top, asked.filter])
    if (!bodies.has(id))
      bodies.set(
        id,
        turns.runExclusive(() => bodyOf(sorted, asked)),
      )
    return bodies.get(id)
  }
}

async function bodyOf(sorted, asked) {
  await nextTurn()
  return JSON.stringify(reportOf(sorted, asked))
}

/**
 * Makes a function that answers a request (request.js has its parts) with { status, headers, body }. It answers
 * undefined if a router has mounted it (`isMounted`) and the URL is neither route. It rejects if the locks cannot be
 * read.
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

/** Returns the answer for a rejection that no router handles. */
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
