'use strict'
// Faults that must have no effect or be reported, with any server behind an engine.
const assert = require('node:assert/strict')
const { randomUUID } = require('node:crypto')
const { once } = require('node:events')
const { mkdtempSync, readFileSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { KeyedMutex } = require('../../..')
const { Engine } = require('../../../lib/cluster/engine.js')
const { stop } = require('../../helpers/processes.js')
const { scaled } = require('../../helpers/scale.js')
const { useEnds } = require('./ends.js')
const { assertOver, knownSession } = require('./known_ends.js')
const { participant } = require('./participants.js')
const { proxy } = require('./servers.js')
const { warmUp } = require('./warm_up.js')

const ttl = 1000
/** For tests that must lose no session: processes and threads may stall for two seconds. */
const safe = { ttl: 4000, maxHold: 20_000 }

/**
 * `startServer()` resolves to { port, start(), stop(), pause(), resume(), close() }; `connector` is
 * the path of a module whose connect(port) resolves to { driver(), close() }.
 */
function faults(startServer, connector) {
  const { connect } = require(connector)
  let server
  const ends = useEnds()
  before(async function () {
    this.timeout(60_000)
    server = await startServer()
  })
  after(() => server.close())

  async function mutexAt(port, options = { ttl, maxHold: 20_000 }, outside = undefined) {
    const connection = await connect(port)
    const engine = new Engine(connection.driver(), options, outside)
    const mutex = new KeyedMutex({ engine })
    await warmUp(mutex)
    ends.push(async () => {
      await Promise.race([engine.close().catch(() => {}), sleep(1000)])
      await connection.close()
    })
    return mutex
  }

  async function processAt(port, more = {}) {
    const options = { ttl, maxHold: 20_000 }
    const made = await participant({ connector, port, options, ...more })
    ends.push(() => made.kill())
    return made
  }

  async function way() {
    const made = await proxy(server.port)
    ends.push(() => made.close())
    return made
  }

  describe('of the server', () => serverFaults({ mutexAt, way, server: () => server }))
  describe('of the connection', () => connectionFaults({ mutexAt, way, port: () => server.port }))
  describe('of processes', () => processFaults({ mutexAt, processAt, port: () => server.port }))
}

function serverFaults({ mutexAt, server }) {
  it('rejects in time while the server is away, and goes on when it is back', async () => {
    const mutex = await mutexAt(server().port)
    const key = randomUUID()
    const before = await mutex.acquire(key)
    const isLost = once(before.signal, 'abort')
    await server().stop()
    try {
      await assert.rejects(mutex.acquire(randomUUID(), { timeout: 200 }), {
        code: 'ERR_LOCK_ENGINE',
        message: /has not answered for the mutex of key .* within 200 ms/,
      })
      await isLost
      assert.equal(before.signal.reason.code, 'ERR_LOCK_LOST')
      before()
    } finally {
      await server().start()
    }
    const after = await mutex.acquire(key, { timeout: 20_000 })
    assert.ok(after.fencingToken > before.fencingToken)
    after()
  })

  it('rejects in time while the server is stopped', async () => {
    const mutex = await mutexAt(server().port)
    await server().pause()
    try {
      await assert.rejects(mutex.acquire(randomUUID(), { timeout: 200 }), {
        code: 'ERR_LOCK_ENGINE',
      })
    } finally {
      server().resume()
    }
    ;(await mutex.acquire(randomUUID(), { timeout: 20_000 }))()
  })

  it('rejects waiters without a timeout when the server does not answer', async () => {
    const mutex = await mutexAt(server().port, { ttl, maxHold: 20_000, answerTimeout: 2000 })
    const key = randomUUID()
    await server().pause()
    try {
      const all = Array.from({ length: 10 }, () => mutex.acquire(key))
      for (const one of await Promise.allSettled(all)) {
        assert.equal(one.reason?.code, 'ERR_LOCK_ENGINE')
      }
      assert.equal(mutex.size, 0)
    } finally {
      server().resume()
    }
  })
}

function connectionFaults({ mutexAt, way, port }) {
  it('keeps its holds, and its turn comes, across cut connections', async () => {
    const cuttable = await way()
    const [a, b] = [await mutexAt(cuttable.port, safe), await mutexAt(port(), safe)]
    const key = randomUUID()
    const release = await a.acquire(key)
    cuttable.cut()
    const next = b.acquire(key)
    await sleep(1.5 * safe.ttl)
    assert.equal(release.signal.aborted, false)
    release()
    const held = await next
    const again = a.acquire(key, { timeout: 20_000 })
    await sleep(100)
    cuttable.cut()
    await sleep(100)
    held()
    ;(await again)()
  })

  it('tells the holder of a loss before another one can hold the lock', async () => {
    const stallable = await way()
    const { outside, sessionEnd } = knownSession()
    const [a, b] = [await mutexAt(stallable.port, undefined, outside), await mutexAt(port())]
    const key = randomUUID()
    const release = await a.acquire(key)
    const { signal } = release
    stallable.stall()
    const next = await b.acquire(key, { timeout: 20_000 })
    await assertOver(signal, sessionEnd())
    assert.equal(next.abandoned, true)
    assert.ok(next.fencingToken > release.fencingToken)
    next()
    release()
    stallable.flow()
    ;(await a.acquire(key, { timeout: 20_000 }))()
  })
}

function processFaults({ mutexAt, processAt, port }) {
  const confirmers = [
    ['which has confirmed its grant', false],
    ['and the renewing thread has to confirm its grant', true],
  ]
  for (const [what, isRenewed] of confirmers) {
    it(`holds on while the event loop of the holder is blocked, ${what}`, () =>
      holdsOnBlocked(isRenewed))
  }

  async function holdsOnBlocked(isRenewed) {
    const options = { ...safe, answerTimeout: safe.ttl }
    const [one, mutex] = [await processAt(port(), { options }), await mutexAt(port(), safe)]
    // From then on the thread is connected.
    if (isRenewed) await one.ask('renewed')
    const key = randomUUID()
    const before = await mutex.acquire(key)
    const order = []
    // Longer than the ttl of a session, and than a server may take to answer.
    const blocked = one.ask('acquire', { key, block: 1.4 * safe.ttl })
    await one.ask('queue', { key })
    before()
    const next = mutex.acquire(key, { timeout: 20_000 })
    next.then(() => order.push('next'))
    const { token } = await blocked
    order.push('blocked')
    assert.deepEqual(await one.ask('token', { key }), { token, isLost: false })
    await one.ask('release', { key })
    const release = await next
    assert.deepEqual(order, ['blocked', 'next'])
    assert.equal(release.abandoned, false)
    release()
  }

  it('passes on the locks of a stopped process, whose late write a fence refuses', async () => {
    const [one, mutex] = [await processAt(port()), await mutexAt(port())]
    const key = randomUUID()
    let fence = 0n
    const write = (token) => {
      if (token < fence) return false
      fence = token
      return true
    }
    const { token } = await one.ask('acquire', { key })
    await stop(one.child.pid)
    const release = await mutex.acquire(key, { timeout: 20_000 })
    assert.equal(release.abandoned, true)
    assert.equal(write(release.fencingToken), true)
    one.child.kill('SIGCONT')
    const late = await one.ask('token', { key })
    assert.equal(late.token, token)
    assert.equal(write(BigInt(late.token)), false)
    // The process has noticed by its own clock.
    while (!(await one.ask('token', { key })).isLost) await sleep(10)
    release()
    await one.ask('release', { key })
    await one.ask('acquire', { key, timeout: 20_000 })
  })

  it('survives kills of processes that hold, wait or are being admitted', async function () {
    this.timeout(120_000)
    const mutex = await mutexAt(port(), { ttl, maxHold: 20_000 })
    const key = randomUUID()
    for (let i = 0; i < scaled(6, 3); i++) {
      const [holder, waiter] = await Promise.all([processAt(port()), processAt(port())])
      await holder.ask('acquire', { key })
      const waiting = waiter.ask('acquire', { key }).catch(() => 'killed')
      await waiter.ask('queue', { key })
      const next = mutex.acquire(key, { timeout: 30_000 })
      if (i % 3 === 0) {
        await holder.kill()
        await waiting
        await waiter.ask('release', { key })
      } else if (i % 3 === 1) {
        await waiter.kill()
        await holder.ask('release', { key })
      } else {
        const released = holder.ask('release', { key })
        await sleep(i % 4)
        await waiter.kill()
        await released
      }
      ;(await next)()
      await Promise.all([holder.kill(), waiter.kill()])
    }
  })

  it('keeps the histories of processes apart, by their tokens, with one clock an hour off', async function () {
    const time = scaled(8000, 3000)
    // A holder keeps its lock even if its process stalls for some seconds.
    const options = { ttl: 10_000, maxHold: 20_000 }
    this.timeout(time + 60_000)
    const folder = mkdtempSync(join(tmpdir(), 'boxoffice-history-'))
    const keys = [randomUUID(), randomUUID(), randomUUID()]
    const clocks = [3_600_000, 0, 0, 0]
    const all = await Promise.all(
      clocks.map((clockOff) => processAt(port(), { clockOff, options })),
    )
    const how = { keys, time, workers: 20, folder }
    const counts = await Promise.all(all.map((one) => one.ask('history', how)))
    let told = 0
    for (const key of keys) {
      const tokens = readFileSync(join(folder, key), 'utf8').trim().split('\n').map(BigInt)
      told += tokens.length
      for (let i = 1; i < tokens.length; i++) assert.ok(tokens[i] > tokens[i - 1], `${i} of ${key}`)
    }
    const total = counts.reduce((sum, { count }) => sum + count, 0)
    assert.equal(told, total)
    for (const { count } of counts) assert.ok(count > total / 40, JSON.stringify(counts))
    rmSync(folder, { recursive: true })
    const mutex = await mutexAt(port())
    for (const key of keys) (await mutex.acquire(key, { timeout: 20_000 }))()
  })
}

module.exports = { faults }
