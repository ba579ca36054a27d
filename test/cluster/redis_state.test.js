'use strict'
// How long Redis keeps the state of a lock, and what becomes of a lock whose state is deleted.
const assert = require('node:assert/strict')
const { randomUUID } = require('node:crypto')
const { Redis } = require('ioredis')
const { KeyedMutex, KeyedSemaphore } = require('../..')
const { redisDriver } = require('../../lib/cluster/redis/driver.js')
const { redis } = require('../../lib/cluster/redis/index.js')
const { useEnds } = require('./helpers/ends.js')
const { redisServer } = require('./helpers/servers.js')
const { warningsOf } = require('../helpers/warnings.js')

const hour = 3_600_000
const longest = 2 ** 31 - 1

describe('The state of a lock in Redis', function () {
  this.timeout(60_000)
  this.slow(10_000)
  let server
  let client
  const ends = useEnds()
  before(async () => {
    server = await redisServer()
    client = new Redis(server.port, '127.0.0.1')
  })
  after(async () => {
    client.disconnect()
    await server.close()
  })

  function engine(options) {
    // On a busy machine, the renewing thread starts slowly.
    const made = redis(client, { answerTimeout: 30_000, ...options })
    ends.push(() => made.close())
    return made
  }

  const stateOf = (key) => `{boxoffice:0}:k:keyed mutex::s${key}`
  const queueOf = (key) => `{boxoffice:0}:l:keyed mutex::s${key}`

  /** Resolves when so many requests wait for the key. */
  async function queued(queue, count) {
    while ((await client.llen(queue)) < count) await new Promise(setImmediate)
  }

  it('outlasts a hold whose end a confirmation moves', async () => {
    const driver = redisDriver(client)
    const key = randomUUID()
    const session = randomUUID()
    await client.set(`{boxoffice:0}:s:${session}`, 'a test', 'PX', hour)
    const id = `${session}-1`
    const asked = { session, key, id, units: 1, capacity: 1, claim: 1000, minHold: 0 }
    const request = { ...asked, wait: true, first: false, maxHold: 1000 }
    assert.equal((await driver.enter(request)).state, 'held')
    const state = `{boxoffice:0}:k:${key}`
    const before = await client.pttl(state)
    assert.ok(before > hour && before <= hour + 1000, `${before}`)
    assert.equal((await driver.confirm({ ...request, maxHold: longest })).state, 'held')
    assert.ok((await client.pttl(state)) > longest)
    await driver.leave({ ...request, keep: 0, untold: false, unused: false })
    await driver.close()
  })

  it('outlasts each of its holds and claims, whatever the others ask for', async () => {
    const driver = redisDriver(client)
    const key = randomUUID()
    const session = randomUUID()
    await client.set(`{boxoffice:0}:s:${session}`, 'a test', 'PX', hour)
    const asked = { session, key, units: 1, capacity: 2, claim: 1000, minHold: 0, first: false }
    const request = (n, maxHold) => ({ ...asked, id: `${session}-${n}`, wait: true, maxHold })
    await driver.enter(request(1, longest))
    await driver.enter(request(2, 1000))
    await driver.leave({ ...request(2, 1000), keep: 0, untold: false, unused: false })
    assert.ok((await client.pttl(`{boxoffice:0}:k:${key}`)) > longest)
    await driver.leave({ ...request(1, longest), keep: 0, untold: false, unused: false })
    assert.ok((await client.pttl(`{boxoffice:0}:k:${key}`)) <= hour)
    await driver.close()
  })

  it('takes releases, hand-overs and confirmations without free memory', async () => {
    const full = await redisServer('--maxmemory-policy', 'noeviction')
    ends.push(() => full.close())
    const own = new Redis(full.port, '127.0.0.1')
    ends.push(() => own.disconnect())
    const driver = redisDriver(own)
    ends.push(() => driver.close())
    const granted = []
    const ignored = () => {}
    const events = { granted: (id) => granted.push(id), wanted: ignored, trouble: ignored }
    await driver.listen('waiter', events)
    for (const session of ['holder', 'waiter']) await driver.open(session, hour)
    const units = { units: 1, capacity: 1, claim: 1000, minHold: 0, maxHold: longest }
    const asked = { ...units, key: 'key', wait: true, first: false }
    const request = (session) => ({ ...asked, session, id: `${session}-1` })
    assert.equal((await driver.enter(request('holder'))).state, 'held')
    assert.equal((await driver.enter(request('waiter'))).state, 'waiting')
    await own.config('SET', 'maxmemory', '1')
    await assert.rejects(own.set('more', 'memory'), /OOM/)
    await driver.leave({ ...request('holder'), keep: 0, untold: false, unused: false })
    assert.equal((await driver.confirm(request('waiter'))).state, 'held')
    await driver.leave({ ...request('waiter'), keep: 0, untold: false, unused: false })
    await assert.rejects(driver.enter({ ...request('holder'), id: 'holder-2' }), /OOM/)
    assert.deepEqual(granted, ['waiter-1'])
  })

  it('stays for an hour after the last use, whatever maxHold was', async () => {
    const mutex = new KeyedMutex({ engine: engine(), maxHold: Infinity })
    const key = randomUUID()
    const release = await mutex.acquire(key)
    assert.ok((await client.pttl(stateOf(key))) > longest)
    release()
    await mutex.onIdle()
    const left = await client.pttl(stateOf(key))
    assert.ok(left > hour - 60_000 && left <= hour, `${left}`)
  })

  it('stays for an hour after the end of minHold', async () => {
    const mutex = new KeyedMutex({ engine: engine(), minHold: 50_000, maxHold: Infinity })
    const key = randomUUID()
    ;(await mutex.acquire(key))()
    await mutex.onIdle()
    const left = await client.pttl(stateOf(key))
    assert.ok(left > hour && left <= hour + 50_000, `${left}`)
  })

  it('counts units anew where a step has failed half way', async () => {
    const map = new KeyedMutex({ engine: engine() })
    const key = randomUUID()
    ;(await map.acquire(key))()
    await map.onIdle()
    // A release whose right to a command was revoked between its own commands.
    await client.hset(stateOf(key), 'o', '1')
    ;(await map.acquire(key, { timeout: 20_000 }))()
    await map.onIdle()
    assert.equal(await client.hget(stateOf(key), 'o'), '0')
  })

  it('may be evicted, of which a warning tells where the server has a limit and a policy', async () => {
    const text =
      'Redis may evict locks, which are lost then: set its maxmemory-policy to noeviction, not volatile-lru'
    const cases = [
      ['0', 'volatile-lru', []],
      ['100mb', 'noeviction', []],
      ['100mb', 'volatile-lru', [text]],
    ]
    for (const [limit, policy, expected] of cases) {
      await client.config('SET', 'maxmemory', limit, 'maxmemory-policy', policy)
      const warnings = await warningsOf('BOXOFFICE_EVICTION', () => engine().ready())
      assert.deepEqual(
        warnings.map(({ message }) => message),
        expected,
      )
    }
    await client.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction')
  })

  it('is made anew when the hash is deleted while others wait', async () => {
    const maps = [1, 2, 3].map(() => new KeyedMutex({ engine: engine() }))
    const key = randomUUID()
    const release = await maps[0].acquire(key)
    const waiting = maps.slice(1).map(async (map) => {
      ;(await map.acquire(key))()
    })
    await queued(queueOf(key), 2)
    await client.del(stateOf(key))
    await Promise.all(waiting)
    release()
    await Promise.all(maps.map((map) => map.onIdle()))
    assert.equal(await client.llen(queueOf(key)), 0)
    for (const map of maps) (await map.acquire(key))()
  })

  it('grants all units of a semaphore again after its hash was deleted', async () => {
    const [a, b] = [1, 2].map(() => new KeyedSemaphore(3, { engine: engine() }))
    const key = randomUUID()
    const [, release] = await a.acquire(key, 2)
    const next = b.acquire(key, 3)
    const state = `{boxoffice:0}:k:keyed semaphore::s${key}`
    await queued(`{boxoffice:0}:l:keyed semaphore::s${key}`, 1)
    await client.del(state)
    const [, second] = await next
    release()
    second()
    await Promise.all([a.onIdle(), b.onIdle()])
    const [, third] = await a.acquire(key, 3)
    third()
  })

  it('lets waiters join again when the list is deleted', async () => {
    const maps = [1, 2, 3, 4].map(() => new KeyedMutex({ engine: engine() }))
    const key = randomUUID()
    const release = await maps[0].acquire(key)
    const waiting = maps.slice(1, 3).map(async (map) => {
      ;(await map.acquire(key))()
    })
    await queued(queueOf(key), 2)
    await client.del(queueOf(key))
    // This one makes the list anew, without the others.
    const last = maps[3].acquire(key)
    await queued(queueOf(key), 1)
    release()
    ;(await last)()
    await Promise.all(waiting)
    await Promise.all(maps.map((map) => map.onIdle()))
    const fields = await client.hkeys(stateOf(key))
    assert.deepEqual(
      fields.filter((name) => name.startsWith('w')),
      [],
    )
  })
})
