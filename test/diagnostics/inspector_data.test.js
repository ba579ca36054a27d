'use strict'
// The inspector's data from a snapshot of the process, and when it takes a snapshot.
const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const http = require('node:http')
const { makeFetchInspector } = require('../../lib/diagnostics/inspector/fetch.js')
const { makeInspector } = require('../../lib/diagnostics/inspector/handler.js')
const { ask, closeServers, lock, ring, serve, snapshotOf } = require('../helpers/inspected.js')

/** The data of an inspector of these locks. */
async function dataOf(snapshot, query = '') {
  const { status, body } = await ask(
    await serve(makeInspector(async () => snapshot)),
    `/data${query}`,
  )
  assert.equal(status, 200, body)
  return JSON.parse(body)
}

const keysOf = ({ rows }) => rows.map(({ key }) => key)

describe('the inspector', () => {
  afterEach(closeServers)

  describe('its data', () => {
    it('begins with the most waiters, then the longest wait, then the longest hold', async () => {
      const snapshot = snapshotOf([
        lock({ key: 'held briefly', hold: [1] }),
        lock({ key: 'held', hold: [1, 500] }),
        lock({ key: 'unknown since', hold: [undefined] }),
        lock({ key: 'one waits', waiting: 1, oldestWait: 20 }),
        lock({ key: 'one waits longer', waiting: 1, oldestWait: 30.5 }),
        lock({ key: 'two wait', waiting: 2, oldestWait: 5, hold: [] }),
        lock({ key: 'idle', hold: [] }),
      ])
      const data = await dataOf(snapshot)
      assert.deepEqual(keysOf(data), [
        ...['"two wait"', '"one waits longer"', '"one waits"'],
        ...['"held"', '"held briefly"', '"unknown since"'],
      ])
      const { all, found, waiting, oldestWait } = data
      assert.deepEqual(
        { all, found, waiting, oldestWait },
        { all: 6, found: 6, waiting: 4, oldestWait: 30.5 },
      )
      assert.equal((await dataOf(snapshotOf())).oldestWait, undefined)
    })

    it('begins with leaked holds, then holds of minutes or of ten times the p99 of their lock', async () => {
      const times = (p99, count) => ({ p50: 1, p90: 1, p99, max: p99, buckets: [count - 1, 1] })
      const map = lock({ hold: [], holds: times(30, 20) })
      const leaked = lock({ key: 'leaked', hold: [1], map: map.id })
      leaked.holders[0].isLeaked = true
      const snapshot = snapshotOf([
        map,
        lock({ key: 'waited for', waiting: 9, oldestWait: 9, hold: [300], map: map.id }),
        lock({ key: 'long', hold: [1, 301], map: map.id }),
        leaked,
        lock({ name: 'few', hold: [9999], holds: times(30, 19) }),
        lock({ name: 'quick', hold: [100], holds: times(0.001, 99) }),
        lock({ name: 'not so quick', hold: [101], holds: times(0.001, 99) }),
        lock({ name: 'minutes', hold: [120_001] }),
        lock({ name: 'usually minutes', hold: [120_001], holds: times(60_000, 99) }),
        lock({ name: 'two minutes', hold: [120_000] }),
      ])
      const { rows, locks } = await dataOf(snapshot)
      const seen = rows.map(({ key, lock, usual, mark }) => [key ?? locks[lock].name, usual, mark])
      assert.deepEqual(seen, [
        ['"leaked"', 30, 'leaked'],
        ['minutes', undefined, 'long'],
        ['usually minutes', 60_000, 'long'],
        ['"long"', 30, 'long'],
        ['not so quick', 0.001, 'long'],
        ['"waited for"', 30, undefined],
        ['two minutes', undefined, undefined],
        ['few', undefined, undefined],
        ['quick', 0.001, undefined],
      ])
      assert.equal(rows[0].holders[0].isLeaked, true)
    })

    it('has as many rows as requested', async () => {
      const snapshot = snapshotOf([1, 2, 3].map((key) => lock({ key, waiting: key })))
      const { rows, found } = await dataOf(snapshot, '?top=2')
      assert.deepEqual([rows.map(({ key }) => key), found], [['3', '2'], 3])
    })

    it('is filtered by words of kind, name, key and scope', async () => {
      const snapshot = snapshotOf([
        lock({ key: 'Ada' }),
        lock({ key: 'bob' }),
        lock({ kind: 'Mutex', name: 'orders', scope: 'host' }),
        lock({ kind: 'Semaphore', name: undefined, key: undefined }),
      ])
      const keysBy = async (filter) =>
        keysOf(await dataOf(snapshot, `?filter=${encodeURIComponent(filter)}`))
      assert.deepEqual(await keysBy('ada'), ['"Ada"'])
      assert.deepEqual(await keysBy(' KEYED  users "b'), ['"bob"'])
      assert.deepEqual(await keysBy('host'), [undefined])
      assert.deepEqual(await keysBy('nobody'), [])
      const { all, found } = await dataOf(snapshot, '?filter=users+ada')
      assert.deepEqual([all, found], [4, 1])
    })

    it('distinguishes keys of any type, and truncates long ones', async () => {
      const keys = [1, 1n, '1', '1n', 2n ** 80n, '\ud800', 'x'.repeat(10_000)]
      const data = await dataOf(snapshotOf(keys.map((key) => lock({ key }))))
      const texts = keysOf(data)
      assert.equal(new Set(texts).size, keys.length)
      assert.deepEqual(texts.slice(0, 5), ['1', '1n', '"1"', '"1n"', `${2n ** 80n}n`])
      assert.equal(new Set(data.rows.map(({ id }) => id)).size, keys.length)
      assert.equal(data.locks.length, 1)
      assert.ok(JSON.stringify(data).length < 3000)
    })

    it('shows characters that would turn the text around them, in names, keys and messages', async () => {
      const locks = [
        lock({ name: '\u202eevil', key: '\u2067gnp.exe' }),
        lock({ key: '\\u2067gnp.exe' }),
      ]
      const deadlock = { ...ring(2), message: 'of key "\u202ea"' }
      const data = await dataOf(snapshotOf(locks, [deadlock]))
      assert.deepEqual(keysOf(data), ['"\\u2067gnp.exe"', '"\\\\u2067gnp.exe"'])
      assert.equal(data.locks[0].name, '\\u202eevil')
      assert.equal(data.deadlocks[0].message, 'of key "\\u202ea"')
    })

    it('distinguishes long keys that begin alike by the ids of their rows', async () => {
      const id = (key) => `KeyedMutex process "users" string ${key}`
      const keys = ['a', 'b', '\ud800', '\ud801'].map((end) => 'x'.repeat(10_000) + end)
      const source = snapshotOf(keys.map((key) => lock({ key, id: id(key) })))
      const { rows } = await dataOf(source)
      assert.equal(new Set(rows.map((row) => row.id)).size, keys.length)
      assert.ok(rows[0].id.length < 500)
      assert.deepEqual((await dataOf(source)).rows, rows)
    })

    it('reports holders, with each stack once, and the first of many', async () => {
      const stack = 'at work (here.js:1:1)'
      const holders = Array.from({ length: 30 }, (_, i) => ({
        ...{ thread: i, pid: 7, since: 5, heldFor: i, mode: 'shared', weight: 2, stack },
      }))
      const data = await dataOf(snapshotOf([lock({ holders }), lock({ key: 'a', holders })]))
      assert.deepEqual(data.stacks, [stack])
      const [row] = data.rows
      assert.deepEqual([row.held, row.holders.length], [30, 20])
      assert.deepEqual(row.holders[0], { ...holders[29], stack: 0 })
      assert.deepEqual(data.locks[row.lock], {
        ...{ kind: 'KeyedMutex', name: 'users', scope: 'process' },
      })
    })

    it('reports waiters, with each stack once, and the first of many', async () => {
      const stack = 'at work (here.js:1:1)'
      const waiters = Array.from({ length: 30 }, (_, i) => ({
        ...{ thread: i, since: i, waitedFor: 9, mode: 'exclusive', weight: 2, stack },
      }))
      const [one, other] = [lock({ waiters, waiting: 30 }), lock({ key: 'a', waiters })]
      other.holders[0].stack = stack
      const { rows, stacks } = await dataOf(snapshotOf([one, other]))
      assert.deepEqual(stacks, [stack])
      assert.deepEqual([rows[0].waiting, rows[0].waiters.length], [30, 20])
      const { waitedFor: _, ...first } = waiters[0]
      assert.deepEqual(rows[0].waiters[0], { ...first, stack: 0 })
      assert.equal(rows[1].holders[0].stack, 0)
    })

    it('reports where locks without a name were made, and keys by their map', async () => {
      const made = (where) => `    at make (${where}.js:1:1)`
      const unnamed = (more) => ({ ...lock(more), name: undefined })
      const snapshot = snapshotOf([
        unnamed({ hold: [], id: 'map', madeAt: made('map') }),
        unnamed({ key: 1, map: 'map' }),
        ...['a', 'b'].map((id) => unnamed({ kind: 'Mutex', id, madeAt: made(id) })),
        unnamed({ kind: 'Mutex', id: 'c' }),
      ])
      const { rows, locks, stacks } = await dataOf(snapshot)
      const places = rows.map(({ lock }) => stacks[locks[lock].madeAt])
      assert.deepEqual(places.sort(), [
        ...['at make (a.js:1:1)', 'at make (b.js:1:1)', 'at make (map.js:1:1)', undefined],
      ])
    })

    it('reports counters, of idle locks too', async () => {
      const totals = { acquisitions: 5, contended: 2 }
      const waits = { p50: 1, p90: 2, p99: 3, max: 4, buckets: [0, 1, 1] }
      const data = await dataOf(snapshotOf([lock({ hold: [], totals, waits }), lock({ key: 1 })]))
      assert.deepEqual(data.totals, [
        { id: 'KeyedMutex users undefined undefined', lock: 0, totals, waits },
      ])
    })

    it('reports the last deadlocks, with keys of any type', async () => {
      const data = await dataOf(
        snapshotOf(
          [],
          [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((n) => ring(n)),
        ),
      )
      assert.equal(data.deadlocks.length, 10)
      assert.deepEqual(data.deadlocks[0], {
        ...{ at: data.at, message: 'a circle of 2' },
        cycle: [0, 1].map((i) => ({
          thread: i,
          waitsFor: { kind: 'KeyedMutex', name: 'forks', key: `${1 - i}n`, stack: 0 },
          holds: [{ kind: 'KeyedMutex', name: 'forks', key: `${i}n`, stack: 0 }],
        })),
      })
    })

    it('is small: ten thousand held keys in a megabyte or two', async () => {
      const stack = 'at work (here.js:1:1)\n'.repeat(10)
      const locks = Array.from({ length: 10_000 }, (_, key) => lock({ key: `user-${key}` }))
      for (const { holders } of locks) holders[0].stack = stack
      const { body } = await ask(await serve(makeInspector(async () => snapshotOf(locks))), '/data')
      assert.equal(JSON.parse(body).rows.length, 10_000)
      assert.ok(body.length < 2e6, `${body.length} bytes`)
    })
  })

  describe('reads the locks', () => {
    it('once for all simultaneous requests, and anew for later ones', async () => {
      let reads = 0
      const asked = new EventEmitter()
      const allAreHere = once(asked, 'all')
      const server = await serve(
        makeInspector(async () => {
          const key = ++reads
          await allAreHere
          return snapshotOf([lock({ key })])
        }),
      )
      let requests = 0
      server.server.on('request', () => {
        if (++requests === 20) asked.emit('all')
      })
      const keysNow = async () => keysOf(JSON.parse((await ask(server, '/data')).body))
      const many = await Promise.all(Array.from({ length: 20 }, keysNow))
      assert.deepEqual(many, new Array(20).fill(['1']))
      while ((await keysNow())[0] === '1');
      assert.equal(reads, 2)
    })

    it('and answers each request with its own selection', async () => {
      const snapshot = snapshotOf([lock({ key: 'ada' }), lock({ key: 'bob' })])
      const server = await serve(makeInspector(async () => snapshot))
      const queries = ['', '?filter=ada', '?filter=bob', '?top=1', '?filter=ada', '']
      const all = await Promise.all(queries.map((query) => ask(server, `/data${query}`)))
      const found = all.map(({ body }) => keysOf(JSON.parse(body)).join())
      assert.deepEqual(found, ['"ada","bob"', '"ada"', '"bob"', '"ada"', '"ada"', '"ada","bob"'])
    })

    it('not for the page, nor for refused requests', async () => {
      const server = await serve(
        makeInspector(async () => {
          throw new Error('read')
        }),
      )
      assert.equal((await ask(server, '/')).status, 200)
      assert.equal((await ask(server, '/data', { headers: { host: 'evil.example' } })).status, 403)
    })

    it('once for all queries, one report in a turn of the event loop', async () => {
      let turn = 0

      const tick = () => {
        turn++
        next = setImmediate(tick)
      }
      let next = setImmediate(tick)
      const seen = { turns: [], sorted: 0 }
      const one = lock({ key: 'ada' })
      Object.defineProperty(one, 'holds', { enumerable: true, get: () => void seen.sorted++ })
      const snapshot = Object.defineProperty(snapshotOf([one]), 'pid', {
        get: () => seen.turns.push(turn),
      })
      const inspect = makeFetchInspector(async () => snapshot)
      const asked = ['', '?filter=ada', '?filter=bob', '?top=1', '', '?filter=ada', '?top=1']
      const answers = await Promise.all(
        asked.map(async (query) => {
          const request = new Request(`http://localhost/data${query}`)
          const answer = await inspect(request, { remoteAddress: '127.0.0.1' })
          return answer.text()
        }),
      )
      clearImmediate(next)

      assert.deepEqual(
        answers.map((body) => JSON.parse(body).found),
        [1, 1, 0, 1, 1, 1, 1],
      )
      assert.equal(seen.turns.length, 4)
      assert.equal(new Set(seen.turns).size, 4)
      assert.equal(seen.sorted, 1)
    })

    it('and goes on after a report that failed', async () => {
      const snapshot = snapshotOf([lock({ key: 'ada' })])
      let isBroken = true
      Object.defineProperty(snapshot, 'pid', {
        get() {
          if (isBroken) throw new Error('broken')
          return 5
        },
      })
      const server = await serve(makeInspector(async () => snapshot))
      assert.equal((await ask(server, '/data')).status, 500)
      isBroken = false
      assert.equal((await ask(server, '/data?top=5')).status, 200)
    })

    it('and reports a failure to the request or to the framework, and tries again', async () => {
      let reads = 0
      const inspect = makeInspector(async () => {
        if (reads++ < 2) throw new Error('no thread answers')
        return snapshotOf()
      })
      const server = await serve((request, response) => {
        if (request.url === '/data') return inspect(request, response)
        request.url = '/data'
        inspect(request, response, ({ message }) => response.end(`next: ${message}`))
      })
      const { status, body } = await ask(server, '/data')
      assert.deepEqual([status, body], [500, 'The locks cannot be read: no thread answers\n'])
      assert.equal((await ask(server, '/other')).body, 'next: no thread answers')
      assert.equal((await ask(server, '/data')).status, 200)
    })

    it('without an error for a client that has gone', async () => {
      const source = new EventEmitter()
      const { port } = await serve(
        makeInspector(() => {
          source.emit('asked')
          return once(source, 'read').then(() => snapshotOf())
        }),
      )
      const request = http.get({ port, path: '/data', agent: false })
      await once(source, 'asked')
      request.destroy()
      await assert.rejects(once(request, 'response'), { code: 'ECONNRESET' })
      source.emit('read')
      await new Promise(setImmediate)
    })
  })
})
