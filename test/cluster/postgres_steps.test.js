'use strict'
// The steps in the database, one by one, without the queue of a process in front.
const assert = require('node:assert/strict')
const { randomUUID } = require('node:crypto')
const { setTimeout: sleep } = require('node:timers/promises')
const { Pool } = require('pg')
const { KeyedMutex } = require('../..')
const { postgres } = require('../../lib/cluster/postgres/index.js')
const { useEnds } = require('./helpers/ends.js')
const { postgresServer } = require('./helpers/postgres_server.js')
const { sessionOver } = require('./helpers/postgres_session.js')
const { scaled } = require('../helpers/scale.js')

describe('The steps of PostgreSQL', () => {
  let server
  let pool
  const ends = useEnds()
  before(async function () {
    this.timeout(60_000)
    server = await postgresServer()
    pool = new Pool({ connectionString: server.url })
  })
  after(async () => {
    await pool.end()
    await server.close()
  })

  const session = () => sessionOver(pool, ends)

  it('never grant more units than there are, and give each a higher token', async function () {
    this.timeout(60_000)
    const end = performance.now() + scaled(4000, 1000)
    const rooms = [
      { key: randomUUID(), capacity: 1, sizes: [1] },
      { key: randomUUID(), capacity: 3, sizes: [1, 2, 3] },
      { key: randomUUID(), capacity: 1000, sizes: [1, 1, 1000] },
    ]
    for (const room of rooms) Object.assign(room, { inside: 0, last: 0n, turns: 0 })
    async function take({ driver, leave, request, whenGranted }) {
      const room = rooms[Math.floor(Math.random() * rooms.length)]
      const units = room.sizes[Math.floor(Math.random() * room.sizes.length)]
      const wish = request(room.key, units, room.capacity)
      let answer
      for (;;) {
        const news = whenGranted(wish.id)
        answer = await driver.enter(wish)
        if (answer.state === 'held') break
        assert.equal(answer.state, 'waiting')
        await news
      }
      room.inside += units
      room.turns++
      assert.ok(room.inside <= room.capacity, `oracle: ${room.inside} of ${room.capacity}`)
      if (units === room.capacity) {
        assert.ok(answer.token > room.last, `${answer.token} after ${room.last}`)
        room.last = answer.token
      }
      if (Math.random() < 0.3) await sleep(1)
      room.inside -= units
      await leave(wish)
    }
    async function task(one) {
      while (performance.now() < end) await take(one)
    }
    const all = await Promise.all(Array.from({ length: 4 }, session))
    await Promise.all(all.flatMap((one) => [task(one), task(one), task(one)]))
    for (const { turns } of rooms) assert.ok(turns > 0)
    const { rows } = await pool.query(
      'SELECT 1 FROM boxoffice.leases WHERE cardinality(requests) > 0',
    )
    assert.equal(rows.length, 0)
  })

  it('pass over a waiter without a listener at once, even if its session lives', async () => {
    const [a, b, c] = [await session(), await session(), await session()]
    const key = randomUUID()
    const [held, deaf, last] = [a, b, c].map(({ request }) => request(key, 1, 1))
    await a.driver.enter(held)
    await b.driver.enter(deaf)
    await c.driver.enter(last)
    await b.driver.close()
    b.isClosed = true
    const isNext = c.whenGranted(last.id)
    const start = performance.now()
    await a.leave(held)
    await isNext
    assert.ok(performance.now() - start < 10_000)
    assert.equal((await c.driver.enter(last)).state, 'held')
  })

  describe('for a key that is free', () => {
    /** A key that has been used. */
    async function freeKey(one) {
      const wish = one.request(randomUUID(), 1, 1)
      assert.equal((await one.driver.enter(wish)).state, 'held')
      await one.leave(wish)
      return wish.key
    }

    it('give higher tokens', async () => {
      const one = await session()
      const key = await freeKey(one)
      let last = 0n
      for (let i = 0; i < 10; i++) {
        const wish = one.request(key, 1, 1)
        const { token, ...answer } = await one.driver.enter(wish)
        assert.deepEqual(answer, { state: 'held', wanted: false, abandoned: false })
        assert.ok(token > last)
        last = token
        await one.leave(wish)
      }
    })

    it('grant it to one request', async () => {
      const one = await session()
      const key = await freeKey(one)
      const [first, second] = [one.request(key, 1, 1), one.request(key, 1, 1)]
      assert.equal((await one.driver.enter(first)).state, 'held')
      // That of a request that is gone already.
      await one.leave(one.request(key, 1, 1))
      assert.equal((await one.driver.enter(second)).state, 'waiting')
      await one.leave(first)
      assert.equal((await one.driver.enter(second)).state, 'held')
    })

    it('do not grant it to a session that is over', async () => {
      const one = await session()
      const key = await freeKey(one)
      await pool.query('DELETE FROM boxoffice.leases_sessions WHERE session = $1', [one.id])
      assert.equal((await one.driver.enter(one.request(key, 1, 1))).state, 'lost')
    })

    it('grant no more units than there are', async () => {
      const one = await session()
      const key = randomUUID()
      const all = one.request(key, 3, 3)
      await one.driver.enter(all)
      await one.leave(all)
      assert.equal((await one.driver.enter(one.request(key, 4, 3))).state, 'waiting')
    })

    it('change its capacity', async () => {
      const one = await session()
      const key = await freeKey(one)
      assert.equal((await one.driver.enter(one.request(key, 1, 2))).state, 'held')
      assert.equal((await one.driver.enter(one.request(key, 1, 2))).state, 'held')
      assert.equal((await one.driver.enter(one.request(key, 1, 2))).state, 'waiting')
      assert.equal((await one.driver.enter(one.request(key, 1, 1))).state, 'mismatch')
    })

    it('do not grant it before the end of a minHold, unless no caller used that hold', async () => {
      const one = await session()
      for (const unused of [false, true]) {
        const key = await freeKey(one)
        const wish = { ...one.request(key, 1, 1), minHold: 30_000 }
        assert.equal((await one.driver.enter(wish)).state, 'held')
        await one.leave(wish, { unused })
        const { state } = await one.driver.enter(one.request(key, 1, 1))
        assert.equal(state, unused ? 'held' : 'waiting')
      }
    })

    it('keep the units that are not given back', async () => {
      const one = await session()
      const key = randomUUID()
      const wish = one.request(key, 3, 3)
      await one.driver.enter(wish)
      await one.leave(wish, { keep: 1 })
      assert.equal((await one.driver.enter(one.request(key, 2, 3))).state, 'held')
      assert.equal((await one.driver.enter(one.request(key, 1, 3))).state, 'waiting')
    })

    it('tell of a lost holder until a caller has heard of it', async () => {
      const [gone, one] = [await session(), await session()]
      const key = randomUUID()
      await gone.driver.enter(gone.request(key, 1, 1))
      await pool.query('DELETE FROM boxoffice.leases_sessions WHERE session = $1', [gone.id])
      const heard = []
      for (const untold of [true, true, false, false]) {
        const wish = one.request(key, 1, 1)
        heard.push((await one.driver.enter(wish)).abandoned)
        await one.leave(wish, { untold })
      }
      assert.deepEqual(heard, [true, true, true, false])
    })

    /** Runs `act`, of another connection, and `during` while `lock`, a statement, lets it wait. */
    async function whileLocked(lock, during, act) {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        await client.query(lock)
        const acting = act()
        await during()
        await client.query('COMMIT')
        return await acting
      } finally {
        client.release()
      }
    }

    const locks = {
      row: (key) => `SELECT FROM boxoffice.leases WHERE key = '${key}' FOR UPDATE`,
      table: () => 'LOCK TABLE boxoffice.leases',
    }
    for (const [what, lock] of Object.entries(locks)) {
      it(`do not go by what was true before they waited for the ${what}`, async () => {
        const [late, one] = [await session(), await session()]
        // Its connection has called the functions before.
        const key = await freeKey(late)
        async function during() {
          // Nothing tells this process when the server has begun to wait.
          await sleep(100)
          const end =
            'UPDATE boxoffice.leases_sessions SET until = clock_timestamp() WHERE session = $1'
          await pool.query(end, [late.id])
        }
        const act = () => late.driver.enter(late.request(key, 1, 1))
        assert.equal((await whileLocked(lock(key), during, act)).state, 'lost')
        const next = one.request(key, 1, 1)
        const { state, abandoned } = await one.driver.enter(next)
        assert.deepEqual({ state, abandoned }, { state: 'held', abandoned: false })
      })
    }

    it('grant none after a crash, before the longest ttl is over', async () => {
      const one = await session()
      const key = await freeKey(one)
      const setEnd = (end) =>
        pool.query(`UPDATE boxoffice.leases_sessions SET until = ${end} WHERE session = ''`)
      await setEnd("now() + interval '1 hour'")
      try {
        const { state, reason } = await one.driver.enter(one.request(key, 1, 1))
        assert.equal(state, 'waiting')
        assert.match(reason, /lost its locks in a crash/)
      } finally {
        await setEnd("'-infinity'")
      }
    })
  })

  it("are in the order of a process's requests", async () => {
    const engine = postgres(pool)
    ends.push(() => engine.close())
    const mutex = new KeyedMutex({ engine })
    const keys = Array.from({ length: 20 }, () => randomUUID())
    const again = async (key) => {
      for (let i = 0; i < 20; i++) (await mutex.acquire(key, i === 0 ? {} : { timeout: 0 }))()
    }
    await Promise.all(keys.map(again))
  })
})
