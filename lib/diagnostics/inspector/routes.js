'use strict'
// The answers to requests: `source` makes the snapshot of the process. handler.js and fetch.js adapt them to servers.
//
// The page asks for new data after it has drawn the last. So nothing here stays open between two requests: no stream, no
// timer to stop, and no lock is read between requests.
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
 * Calls `source` once for all requests that come before its answer, or within `freshFor` after it. Requests with the same
 * filter and limit share one report.
 */
function shared(source) {
  /** With tens of thousands of keys a report takes a turn of its own. */
  const turns = new LocalMutex()
  let reading
  const forget = () => {
    reading = undefined
  }

  function read() {
    if (reading !== undefined) return reading
    reading = source().then((snapshot) => ({ sorted: sortedOf(snapshot), bodies: new Map() }))
    // A snapshot is kept for `freshFor`. A failure answers the waiting requests, and no later one.
    reading.then(() => setTimeout(forget, freshFor).unref(), forget)
    return reading
  }

  /** The report as JSON. */
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
 * Makes a function that answers a request (request.js has its parts) with { status, headers, body }. It answers undefined
 * when a router has mounted the routes (`isMounted`) and the URL is none of them. It rejects when the locks cannot be
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

/** The answer when makeRoutes() rejects and no router handles the error. */
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
