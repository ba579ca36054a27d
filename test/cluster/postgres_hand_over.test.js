'use strict'
// What the release of a key does for the requests that wait: the usual hand-over, which is one statement of its own, and
// all that is not usual.
const assert = require('node:assert/strict')
const { randomUUID } = require('node:crypto')
const { setTimeout: sleep } = require('node:timers/promises')
const { Pool } = require('pg')
const { useEnds } = require('./helpers/ends.js')
const { postgresServer } = require('./helpers/postgres_server.js')
const { sessionOver } = require('./helpers/postgres_session.js')

/** The number of no process. */
const longestInt = 2 ** 31 - 1

describe('A release in PostgreSQL', function () {
  this.timeout(60_000)
  let server
  let pool
  let a
  let b
  let c
  let key
  const ends = useEnds()
  before(async () => {
    server = await postgresServer()
    pool = new Pool({ connectionString: server.url })
  })
  after(async () => {
    await pool.end()
    await server.close()
  })
  beforeEach(async () => {
    ;[a, b, c] = await Promise.all([1, 2, 3].map(() => sessionOver(pool, ends)))
    key = randomUUID()
  })

  /** A request of `session` that holds the key. */
  async function holding(session, units = 1, capacity = 1, more = {}) {
    const wish = { ...session.request(key, units, capacity), ...more }
    const { state, token } = await session.enter(wish)
    assert.equal(state, 'held')
    return { ...wish, token }
  }

  /** A request of `session` that waits, and a promise of its grant. */
  async function waiting(session, units = 1, capacity = 1) {
    const wish = session.request(key, units, capacity)
    assert.equal((await session.enter(wish)).state, 'waiting')
    return { wish, granted: session.whenGranted(wish.id) }
  }

  /** What the server says of a request. */
  async function stateOf(session, { wish }) {
    const { state, wanted, abandoned } = await session.enter(wish)
    return state === 'held' ? { state, wanted, abandoned } : { state }
  }

  const held = { state: 'held', wanted: false, abandoned: false }
  const endSession = ({ id }) =>
    pool.query('DELETE FROM boxoffice.leases_sessions WHERE session = $1', [id])

  it('grants the key to the next request, with a higher token', async () => {
    const first = await holding(a)
    const [second, third] = [await waiting(b), await waiting(c)]
    await a.leave(first)
    // The message itself tells whether others wait.
    assert.equal((await second.granted).wanted, true)
    const { token, ...state } = await b.enter(second.wish)
    assert.deepEqual(state, { ...held, wanted: true })
    assert.ok(token > first.token)
    assert.deepEqual(await stateOf(c, third), { state: 'waiting' })
    await b.leave(second.wish)
    assert.equal((await third.granted).wanted, false)
    assert.deepEqual(await stateOf(c, third), held)
  })

  it('tells only the next of what the row says of a lost holder', async () => {
    const first = await holding(a)
    const [second, third] = [await waiting(b), await waiting(c)]
    await pool.query('UPDATE boxoffice.leases SET abandoned = true WHERE key = $1', [key])
    await a.leave(first)
    await second.granted
    assert.equal((await stateOf(b, second)).abandoned, true)
    await b.leave(second.wish)
    await third.granted
    assert.equal((await stateOf(c, third)).abandoned, false)
  })

  it('tells the next of a lost holder, until a caller has heard of it', async () => {
    for (const untold of [true, false]) {
      key = randomUUID()
      const gone = await sessionOver(pool, ends)
      await gone.enter(gone.request(key, 1, 1))
      await endSession(gone)
      const first = a.request(key, 1, 1)
      assert.equal((await a.enter(first)).abandoned, true)
      const [second, third] = [await waiting(b), await waiting(c)]
      await a.leave(first, { untold })
      await second.granted
      assert.deepEqual(await stateOf(b, second), { ...held, wanted: true, abandoned: untold })
      await b.leave(second.wish)
      await third.granted
      assert.deepEqual(await stateOf(c, third), held)
    }
  })

  const setUntil = (time, { id }) =>
    pool.query(`UPDATE boxoffice.leases_sessions SET until = now() + $1 WHERE session = $2`, [
      time,
      id,
    ])
  const overs = { over: endSession, late: (one) => setUntil('-1 ms', one) }
  for (const [what, end] of Object.entries(overs)) {
    it(`passes over a request whose session is ${what}`, async () => {
      const first = await holding(a)
      const [second, third] = [await waiting(b), await waiting(c)]
      await end(b)
      await a.leave(first)
      await third.granted
      assert.deepEqual(await stateOf(c, third), held)
      assert.deepEqual(await stateOf(b, second), { state: 'lost' })
    })
  }

  it('shortens a session that began before the clock was set back', async () => {
    const first = await holding(a)
    const next = await waiting(b)
    await setUntil('1 hour', b)
    await a.leave(first)
    await next.granted
    const left =
      'SELECT until - now() < $1 AS is_short FROM boxoffice.leases_sessions WHERE session = $2'
    const { rows } = await pool.query(left, ['2 minutes', b.id])
    assert.deepEqual(rows, [{ is_short: true }])
  })

  it('grants what fits to all that it fits, and no more', async () => {
    const first = await holding(a, 3, 3)
    const small = [await waiting(b, 1, 3), await waiting(c, 2, 3)]
    const last = await waiting(a, 1, 3)
    await a.leave(first)
    await Promise.all(small.map(({ granted }) => granted))
    assert.equal((await stateOf(b, small[0])).state, 'held')
    assert.equal((await stateOf(c, small[1])).state, 'held')
    assert.equal((await stateOf(a, last)).state, 'waiting')
  })

  const setListener = (place, pid) =>
    pool.query('UPDATE boxoffice.leases SET requests[$1].listener = $2 WHERE key = $3', [
      place,
      pid,
      key,
    ])

  for (const [what, pid] of Object.entries({ 'is gone': longestInt, 'was never there': null })) {
    it(`passes over a request whose listening connection ${what}`, async () => {
      const first = await holding(a)
      await waiting(b)
      const third = await waiting(c)
      await setListener(2, pid)
      await a.leave(first)
      assert.equal((await third.granted).wanted, false)
    })
  }

  it('grants the key to a listening connection of an older version, which holds no advisory lock', async () => {
    const client = await pool.connect()
    const [first, second] = [await holding(a), await waiting(b)]
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
    await setListener(2, rows[0].pid)
    await a.leave(first)
    assert.equal((await second.granted).wanted, false)
    client.release()
  })

  it('knows each listening connection by its advisory lock', async () => {
    await holding(a)
    await waiting(b)
    const { rows } = await pool.query(
      `SELECT l.granted FROM boxoffice.leases, unnest(requests) s
        JOIN pg_locks l ON l.locktype = 'advisory' AND l.pid = s.listener AND l.objid = s.listener WHERE key = $1`,
      [key],
    )
    assert.deepEqual(rows, [{ granted: true }, { granted: true }])
  })

  it('waits for the other holders', async () => {
    const [first, other] = [await holding(a, 1, 2), await holding(b, 1, 2)]
    const next = await waiting(c, 2, 2)
    await a.leave(first)
    assert.equal((await stateOf(c, next)).state, 'waiting')
    await b.leave(other)
    await next.granted
    assert.deepEqual(await stateOf(c, next), held)
  })

  it('of a part grants nothing that needs all', async () => {
    const first = await holding(a, 2, 2)
    const next = await waiting(b, 2, 2)
    await a.leave(first, { keep: 1 })
    assert.equal((await stateOf(b, next)).state, 'waiting')
  })

  it('of a request that waits grants nothing', async () => {
    await holding(a)
    const [first, second] = [await waiting(b), await waiting(c)]
    await b.leave(first.wish)
    assert.equal((await stateOf(c, second)).state, 'waiting')
    assert.equal((await stateOf(b, first)).state, 'waiting')
  })

  // The holder stands last where requests could not be told when it came: their sessions did not listen.
  const holderLast = () =>
    pool.query(
      'UPDATE boxoffice.leases SET requests = requests[2:] || requests[1] WHERE key = $1',
      [key],
    )

  it('of a request ahead of the holder grants nothing', async () => {
    await holding(a)
    const [first, second] = [await waiting(b), await waiting(c)]
    await holderLast()
    await b.leave(first.wish)
    assert.equal((await stateOf(c, second)).state, 'waiting')
  })

  it('waits for a holder behind the request', async () => {
    await holding(a, 1, 2)
    const first = await holding(b, 1, 2)
    const next = await waiting(c, 2, 2)
    await holderLast()
    await b.leave(first)
    assert.equal((await stateOf(c, next)).state, 'waiting')
  })

  for (const [when, given, left] of [
    ['', 30_000, 30_000],
    [' that only the grant had', 30_000, 0],
  ]) {
    it(`grants nothing before the end of a minHold${when}`, async () => {
      const first = await holding(a, 1, 1, { minHold: given })
      const next = await waiting(b)
      await a.leave(first, { minHold: left })
      assert.equal((await stateOf(b, next)).state, 'waiting')
    })
  }

  it('begins the minHold of the next', async () => {
    const first = await holding(a)
    const [second, third] = [await waiting(b), await waiting(c)]
    await a.leave(first, { minHold: 30_000 })
    await second.granted
    await b.leave(second.wish)
    assert.equal((await stateOf(c, third)).state, 'waiting')
  })

  it('grants nothing after a crash, before the longest ttl is over', async () => {
    const first = await holding(a)
    const next = await waiting(b)
    const setEnd = (end) =>
      pool.query(`UPDATE boxoffice.leases_sessions SET until = ${end} WHERE session = ''`)
    await setEnd("now() + interval '1 hour'")
    try {
      await a.leave(first)
      assert.equal((await stateOf(b, next)).state, 'waiting')
    } finally {
      await setEnd("'-infinity'")
    }
  })

  const locks = {
    row: () => `SELECT FROM boxoffice.leases WHERE key = '${key}' FOR UPDATE`,
    table: () => 'LOCK TABLE boxoffice.leases',
  }
  for (const [what, lock] of Object.entries(locks)) {
    it(`does not go by what was true before it waited for the ${what}`, async () => {
      const gone = await sessionOver(pool, ends)
      await gone.enter(gone.request(key, 1, 1))
      await endSession(gone)
      const first = a.request(key, 1, 1)
      await a.enter(first)
      const [second, third] = [await waiting(b), await waiting(c)]
      const client = await pool.connect()
      await client.query('BEGIN')
      await client.query(lock())
      const left = a.leave(first, { untold: true })
      // Nothing tells this process when the server has begun to wait.
      await sleep(100)
      await endSession(b)
      await client.query('COMMIT')
      client.release()
      await left
      await third.granted
      assert.deepEqual(await stateOf(c, third), { ...held, abandoned: true })
      assert.deepEqual(await stateOf(b, second), { state: 'lost' })
    })
  }
})
