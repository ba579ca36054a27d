'use strict'
// Requests of all kinds as fast as possible leave nothing behind.
const assert = require('node:assert/strict')
const { inChild } = require('../helpers/children.js')
const { scaled } = require('../helpers/scale.js')

const handler = require.resolve('../../lib/diagnostics/inspector/handler.js')
const inspected = require.resolve('../helpers/inspected.js')

/** Each thousand of them includes every kind. */
const kinds = [
  { path: '/data?filter=user', status: 200 },
  { path: '/locks/data', status: 200 },
  { path: '/', status: 200 },
  { path: '/data?top=x', status: 400 },
  { path: '/%', status: 400 },
  { path: '/data', method: 'POST', status: 405 },
  { path: '/data', headers: { host: 'evil.example' }, status: 403 },
]

const requests = scaled(1500, 600)
/** A quarter of the clients that go before the answer, in a round: fewer objects than a leak would keep. */
const few = requests / 100

describe('the inspector under load', function () {
  this.timeout(60_000)

  it('keeps nothing of thousands of requests, nor of clients that go before the answer', async () => {
    const [{ wrong, ...left }] = await inChild(
      `
      const http = require('node:http')
      const { makeInspector } = require(${JSON.stringify(handler)})
      const { lock, serve, closeServers, snapshotOf } = require(${JSON.stringify(inspected)})
      const locks = Array.from({ length: 200 }, (_, i) => lock({ key: 'user ' + i, waiting: i }))
      const source = async () => { await turn(); return snapshotOf(locks) }
      const { port, server } = await serve(makeInspector(source))
      const agent = new http.Agent({ keepAlive: true, maxSockets: 20 })
      const kinds = ${JSON.stringify(kinds)}
      const wrong = []
      let most = 0
      /** By the port of its client: the end of each connection, as the server sees it. */
      const ends = new Map()
      function endOf(port) {
        if (!ends.has(port)) {
          const end = {}
          end.promise = new Promise((resolve) => { end.resolve = resolve })
          ends.set(port, end)
        }
        return ends.get(port)
      }
      server.on('connection', (socket) => {
        const { remotePort } = socket
        socket.on('close', () => endOf(remotePort).resolve())
        const count = (name) => socket.listenerCount(name)
        socket.on('data', () => { most = Math.max(most, count('close') + count('error')) })
      })

      const ask = ({ status, ...how }, leaves) => new Promise((resolve) => {
        const request = http.request({ port, agent: leaves ? false : agent, ...how })
        request.on('response', (response) => {
          if (response.statusCode !== status) wrong.push([how.path, response.statusCode])
          response.resume().on('close', resolve)
        })
        request.on('error', resolve)
        request.end(leaves ? () => setImmediate(() => request.destroy()) : undefined)
        if (leaves) request.on('socket', (socket) => socket.on('connect', () => ports.push(socket.localPort)))
      })
      /** The ports of the clients that go before the answer. */
      const ports = []
      async function round() {
        const many = ${requests}
        for (let i = 0; i < many; i += 100) {
          await Promise.all(Array.from({ length: 100 }, (_, j) => ask(kinds[j % kinds.length], j > 95)))
        }
        for (const port of ports.splice(0)) {
          await endOf(port).promise
          ends.delete(port)
        }
        // The inspector shares a snapshot for 200 ms. Timers of equal length end in the order of their start.
        await turn()
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
      await round()
      const ofTime = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
      const before = { most, timers: ofTime() }
      const grown = await growth(round, { objects: ${few} })
      const after = { most, timers: ofTime() }
      agent.destroy()
      await closeServers()
      show({ wrong, before, after, grown })`,
      '--expose-gc',
    )
    assert.deepEqual(wrong, [])
    assert.deepEqual(left.after, left.before)
    assert.ok(left.grown.objects <= few, `${left.grown.objects} objects more`)
  })

  it('lets its process end as soon as its server does', async () => {
    // A timer of the inspector would keep the process alive.
    const [kept] = await inChild(`
      const { makeInspector } = require(${JSON.stringify(handler)})
      const { ask, serve, closeServers, snapshotOf } = require(${JSON.stringify(inspected)})
      const at = await serve(makeInspector(async () => snapshotOf()))
      await ask(at, '/data')
      await closeServers()
      await turn()
      show(process.getActiveResourcesInfo().filter((name) => name === 'Timeout'))`)
    assert.deepEqual(kept, [])
  })
})
