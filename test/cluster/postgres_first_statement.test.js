'use strict'
// Connections that die, or fall silent, during the first statement after they were made.
const assert = require('node:assert/strict')
const net = require('node:net')
const { Pool } = require('pg')
const { KeyedMutex } = require('../..')
const { postgres } = require('../../lib/cluster/postgres/index.js')
const { useEnds } = require('./helpers/ends.js')
const { pgbouncer } = require('./helpers/pgbouncer.js')
const { postgresServer } = require('./helpers/postgres_server.js')

/** A proxy to `port` that calls onFirst(near, far) in place of sending on the first statement of a connection. */
async function beforeStatements(port, onFirst) {
  const sockets = new Set()
  const server = net.createServer((near) => {
    const far = net.connect(port, '127.0.0.1')
    let hasBegun = false
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {}) // whichever end closed, the other is closed, too
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    far.on('data', (chunk) => near.write(chunk))
    near.on('data', (chunk) => {
      const isStatement = chunk[0] === 'Q'.charCodeAt(0)
      if (!isStatement || hasBegun || !onFirst(near, far)) far.write(chunk)
      hasBegun ||= isStatement
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: server.address().port,
    close() {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

describe('A connection to PostgreSQL that fails during its first statement', function () {
  this.timeout(60_000)
  this.slow(10_000)
  let server
  const ends = useEnds()
  before(async () => {
    server = await postgresServer()
  })
  after(() => server.close())

  function mutexAt(port, options) {
    const pool = new Pool({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
    pool.on('error', () => {}) // its connection is cut
    const engine = postgres(pool, options)
    ends.push(async () => {
      // The server may not be told of it, where the connections are too few.
      await engine.close().catch(({ code }) => assert.equal(code, 'ERR_LOCK_ENGINE'))
      await pool.end()
    })
    return new KeyedMutex({ engine })
  }

  async function proxyWith(onFirst) {
    const made = await beforeStatements(server.port, onFirst)
    ends.push(() => made.close())
    return made.port
  }

  it('is replaced when it is cut', async () => {
    let count = 0
    // Every other one of the first connections, of the event loop and of the renewing thread.
    const port = await proxyWith((near) => {
      count++
      if (count % 2 === 1 || count > 6) return false
      near.destroy()
      return true
    })
    const mutex = mutexAt(port, { answerTimeout: 20_000 })
    const all = Array.from({ length: 20 }, (_, i) => mutex.acquire(`key ${i}`))
    for (const release of await Promise.all(all)) release()
    assert.ok(count > 6, `${count}`)
  })

  it('is replaced when it falls silent', async () => {
    let count = 0
    const port = await proxyWith(() => {
      count++
      return count <= 4
    })
    const mutex = mutexAt(port, { answerTimeout: 1000, ttl: 3000 })
    // The first attempts to connect take a second each.
    for (;;) {
      const error = await mutex.acquire('key').then(
        (release) => release(),
        (reason) => reason,
      )
      if (error === undefined) return
      assert.equal(error.code, 'ERR_LOCK_ENGINE')
    }
  })

  it('keeps a lock that is held meanwhile', async () => {
    let isCutting = false
    let cuts = 0
    const port = await proxyWith((near) => {
      if (!isCutting) return false
      cuts++
      near.destroy()
      return true
    })
    const mutex = mutexAt(port, { answerTimeout: 20_000, ttl: 20_000 })
    const release = await mutex.acquire('key')
    isCutting = true
    // Until the connections that are there already do not suffice.
    const others = []
    while (cuts < 5) {
      others.push(mutex.acquire(`other ${others.length}`))
      await new Promise(setImmediate)
    }
    assert.equal(release.signal.aborted, false)
    isCutting = false
    for (const other of await Promise.all(others)) other()
    assert.equal(release.signal.aborted, false)
    release()
  })

  it('does not end the process when pgbouncer has too few sessions', async () => {
    const bouncer = await pgbouncer(server.port, 'session', ['default_pool_size = 4'])
    ends.push(() => bouncer.close())
    const pools = Array.from({ length: 3 }, () =>
      mutexAt(bouncer.port, { answerTimeout: 1000, ttl: 3000 }),
    )
    const results = await Promise.allSettled(
      pools.flatMap((mutex) => Array.from({ length: 5 }, (_, i) => mutex.acquire(`few ${i}`))),
    )
    for (const { reason, value } of results) {
      if (reason === undefined) value()
      else assert.match(reason.code, /^ERR_LOCK_(ENGINE|LOST)$/)
    }
  })
})
