'use strict'
// A server that is away, or silent: a coded error within the caller's timeout, for every lock.
const assert = require('node:assert/strict')
const net = require('node:net')
const { KeyedMutex, KeyedRWLock, KeyedSemaphore, LockManager, Mutex, RWLock } = require('../../..')
const { freePort } = require('./servers.js')

/** By class: acquires a lock over an engine. */
const ways = {
  Mutex: (engine, limits) => new Mutex({ engine, name: 'a' }).acquire(limits),
  'Mutex.runExclusive': (engine, limits) =>
    new Mutex({ engine, name: 'b' }).runExclusive(() => {}, limits),
  RWLock: (engine, limits) => new RWLock({ engine, name: 'a' }).acquireWrite(limits),
  KeyedMutex: (engine, limits) => new KeyedMutex({ engine }).acquire('key', limits),
  'KeyedMutex, several keys': (engine, limits) =>
    new KeyedMutex({ engine, name: 'b' }).acquire(['a', 'b'], limits),
  KeyedSemaphore: (engine, limits) => new KeyedSemaphore(2, { engine }).acquire('key', 1, limits),
  'KeyedRWLock, to read': (engine, limits) => new KeyedRWLock({ engine }).acquireRead('a', limits),
  'KeyedRWLock, to write': (engine, limits) =>
    new KeyedRWLock({ engine }).acquireWrite('b', limits),
  LockManager: (engine, limits) => new LockManager({ engine }).acquire('key', limits),
}

/** A server that accepts connections, and stays silent: { port, close() }. */
async function silentServer() {
  const sockets = new Set()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}) // its peer may have given up
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

const noServer = async () => ({ port: await freePort(), close: async () => {} })

/** `connect(port)` returns, or resolves to, { engine, close() }, not connected yet. */
function absent(connect) {
  for (const [what, place] of Object.entries({ 'no server': noServer, silence: silentServer })) {
    it(`${what}: rejects in time, for all classes`, async function () {
      this.timeout(30_000)
      const { port, close } = await place()
      const connection = await connect(port)
      const { engine } = connection
      try {
        const late = { code: 'ERR_LOCK_ENGINE', message: /not answered for .* within 150 ms/ }
        for (const [name, take] of Object.entries(ways)) {
          const start = performance.now()
          await assert.rejects(take(engine, { timeout: 150 }), late, name)
          assert.ok(performance.now() - start >= 149, name)
        }
        await Promise.all(
          Object.entries(ways).map(([name, take]) =>
            assert.rejects(take(engine, undefined), { code: 'ERR_LOCK_ENGINE' }, name),
          ),
        )
      } finally {
        await engine.close().catch(({ code }) => assert.equal(code, 'ERR_LOCK_ENGINE'))
        await connection.close()
        await close()
      }
    })
  }
}

module.exports = { absent }
