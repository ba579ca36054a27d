'use strict'
// A server that shows data of a test, and requests that no browser sends.
const { once } = require('node:events')
const http = require('node:http')

const started = []

/** Listens with `handler` on its own port until the test is over: { port, url }. */
async function serve(handler) {
  const server = http.createServer(handler)
  started.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  return { port, server, url: `http://127.0.0.1:${port}` }
}

/** For afterEach. */
async function closeServers() {
  for (const server of started.splice(0)) {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
}

/** { status, headers, body } of a request of which each part may be malformed. */
async function ask({ port }, path, { method = 'GET', headers = {} } = {}) {
  const request = http.request({ host: '127.0.0.1', port, path, method, headers, agent: false })
  request.end()
  const [response] = await once(request, 'response')
  response.setEncoding('utf8')
  let body = ''
  for await (const chunk of response) body += chunk
  return { status: response.statusCode, headers: response.headers, body }
}

const at = 1_763_700_000_000

/** A lock as a snapshot of the process reports it. */
function lock({ kind = 'KeyedMutex', name = 'users', hold = [10], ...more } = {}) {
  const holders = hold.map((heldFor) => ({ thread: 0, since: at - heldFor, heldFor }))
  const id = `${kind} ${name} ${typeof more.key} ${more.key}`
  return { kind, name, scope: 'process', id, holders, waiting: 0, waiters: [], ...more }
}

const snapshotOf = (locks = [], deadlocks = []) => ({
  ...{ at, pid: 5, threads: [{ id: 0, answered: true }], locks, deadlocks },
})

/** A deadlock of so many chains, each of which holds one fork and waits for the next. */
function ring(many, stack = 'at dine (table.js:5:1)') {
  const fork = (i) => ({ kind: 'KeyedMutex', name: 'forks', key: BigInt(i % many), stack })
  const cycle = Array.from({ length: many }, (_, i) => ({
    ...{ thread: i, waitsFor: fork(i + 1), holds: [fork(i)] },
  }))
  return { at, message: `a circle of ${many}`, cycle }
}

module.exports = { ask, closeServers, lock, ring, serve, snapshotOf }
