'use strict'
// Calls of withTransaction() beside one another on one client, and at a server that does not answer.
const assert = require('node:assert/strict')
const { setTimeout: sleep } = require('node:timers/promises')
const { Pool } = require('pg')
const { postgres } = require('../../lib/cluster/postgres/index.js')
const { stop } = require('../helpers/processes.js')
const { postgresServer } = require('./helpers/postgres_server.js')

const late = { code: 'ERR_LOCK_TIMEOUT' }

describe('Calls for locks of one transaction of PostgreSQL', function () {
  this.timeout(60_000)
  this.slow(5000)
  let server
  let pool
  let engine
  let clients
  before(async () => {
    server = await postgresServer()
    pool = new Pool({ connectionString: server.url }).on('error', () => {})
    engine = postgres(pool, { answerTimeout: 1000 })
  })
  after(async () => {
    await engine.close()
    await pool.end()
    await server.close()
  })
  beforeEach(() => {
    clients = []
  })
  afterEach(() => {
    for (const client of clients) client.release(true)
  })

  /** A client inside a transaction, and its locks. */
  async function begin() {
    const client = await pool.connect()
    client.on('error', () => {})
    clients.push(client)
    await client.query('BEGIN')
    return { client, locks: engine.withTransaction(client) }
  }

  /** The texts of the statements that `client` sends from now on. */
  function statementsOf(client) {
    const sent = []
    const { query } = client
    client.query = (statement, ...rest) => {
      sent.push(statement.text ?? statement)
      return query.call(client, statement, ...rest)
    }
    return sent
  }

  const isPending = (promise) => Promise.race([promise.then(() => false), sleep(50, true)])

  describe('at once', () => {
    /** A transaction that may not acquire 'taken', and a third one. */
    async function transactions() {
      const [other, own, third] = [await begin(), await begin(), await begin()]
      await other.locks.acquire('taken')
      return { other, own, third }
    }

    const beside = [
      [
        'a call that times out',
        (locks) => assert.rejects(locks.acquire('taken', { timeout: 100 }), late),
      ],
      [
        'a call that does not get all of its keys',
        async (locks) => assert.equal(await locks.tryAcquire(['a', 'taken', 'z']), false),
      ],
    ]
    for (const [name, call] of beside) {
      it(`take no lock from one another: ${name}`, async () => {
        const { own, third } = await transactions()
        // Another object of the same client.
        const more = engine.withTransaction(own.client)
        await Promise.all([
          own.locks.acquire('b', { timeout: 10_000 }),
          call(more),
          own.locks.acquire('c'),
          call(own.locks),
          more.tryAcquire(['d', 'e']),
        ])
        for (const key of ['b', 'c', 'd', 'e'])
          assert.equal(await third.locks.tryAcquire(key), false, key)
        await own.client.query('COMMIT')
        assert.equal(await third.locks.tryAcquire(['b', 'c', 'd', 'e']), true)
      })
    }

    it('reject after their own timeouts, and leave the order as it is', async () => {
      const { other, own, third } = await transactions()
      const first = own.locks.acquire('taken')
      const rejected = assert.rejects(own.locks.acquire('b', { timeout: 50 }), {
        code: 'ERR_LOCK_TIMEOUT',
        message: /^timeout of 50 ms .* of "b" in a transaction/,
      })
      const next = own.locks.tryAcquire(['c', 'd'])
      await rejected
      const last = own.locks.acquire('e', { timeout: 10_000 })
      assert.equal(await isPending(Promise.race([first, next, last])), true)
      await other.client.query('COMMIT')
      await first
      assert.equal(await next, true)
      await last
      assert.equal(await third.locks.tryAcquire('b'), true)
      assert.equal(await third.locks.tryAcquire('e'), false)
    })

    it('send their first statement before the caller sends another one', async () => {
      const { other, own } = await transactions()
      const blocked = own.locks.acquire('taken')
      await assert.rejects(own.locks.acquire('c', { timeout: 0 }), late)
      await other.client.query('COMMIT')
      await blocked
      const sent = statementsOf(own.client)
      await Promise.all([own.locks.acquire('d'), own.client.query('SELECT 1')])
      assert.match(sent[0], /pg_advisory_xact_lock/)
      assert.equal(sent[1], 'SELECT 1')
    })

    it('send all of them before the caller sends another one, where none has a limit', async () => {
      const { client, locks } = await begin()
      const sent = statementsOf(client)
      const calls = [locks.acquire('a'), locks.acquire('b'), locks.acquire('c', { shared: true })]
      calls.push(client.query('SELECT 1'))
      await Promise.all(calls)
      assert.deepEqual(
        sent.map((text) => /pg_advisory_xact_lock(_shared)?\(|SELECT 1/.test(text)),
        [true, true, true, true],
      )
      assert.equal(sent.at(-1), 'SELECT 1')
      // A call with a limit still waits for all of them.
      await Promise.all([locks.acquire('d'), locks.acquire('e', { timeout: 5000 })])
      assert.match(sent[4], /pg_advisory/)
    })

    it('go on after a call that has failed', async () => {
      const { own } = await transactions()
      const none = { code: 'ERR_LOCK_NO_TRANSACTION' }
      await own.client.query('COMMIT')
      const calls = [own.locks.acquire('b', { timeout: 100 }), own.locks.tryAcquire(['c', 'd'])]
      for (const call of calls) await assert.rejects(call, none)
      await own.client.query('BEGIN')
      await own.locks.acquire('b', { timeout: 1000 })
    })
  })

  describe('at a server that does not answer', () => {
    // A test stops the process of its session only: those of earlier clients may be ending.
    const silent = (names) => ({
      code: 'ERR_LOCK_ENGINE',
      message: new RegExp(
        `^PostgreSQL has not answered for the lock of ${names} .* within \\d+ ms\\. .* unknown: end the client`,
      ),
    })

    const calls = [
      ['acquire() with a timeout', (locks) => locks.acquire('b', { timeout: 200 }), '"b"', 1200],
      ['tryAcquire()', (locks) => locks.tryAcquire('b'), '"b"', 1000],
      [
        'tryAcquire() of several keys',
        (locks) => locks.tryAcquire(['b', 'c']),
        '"[bc]", "[bc]"',
        1000,
      ],
    ]
    for (const [name, call, names, time] of calls) {
      it(`reject, and send nothing more: ${name}`, async () => {
        const { client, locks } = await begin()
        await locks.acquire('a', { timeout: 5000 })
        const sent = statementsOf(client)
        await stop(client.processID)
        try {
          const start = performance.now()
          await assert.rejects(call(locks), silent(names))
          assert.ok(performance.now() - start >= time - 5)
        } finally {
          process.kill(client.processID, 'SIGCONT')
        }
        await client.query('ROLLBACK')
        assert.equal(sent.length, 2, sent.join('\n'))
        assert.equal(sent[1], 'ROLLBACK')
      })
    }

    it('reject when the client has been ended', async () => {
      const client = await pool.connect()
      client.on('error', () => {})
      await client.query('BEGIN')
      const locks = engine.withTransaction(client)
      await stop(client.processID)
      try {
        const refused = [locks.acquire('b'), locks.acquire('c'), locks.tryAcquire(['d', 'e'])].map(
          (call) => assert.rejects(call, /terminated|closed|ended/i),
        )
        client.release(true)
        await Promise.all(refused)
      } finally {
        process.kill(client.processID, 'SIGCONT')
      }
    })

    it('do not mistake a wait for silence', async () => {
      const [other, own] = [await begin(), await begin()]
      await other.locks.acquire('taken')
      await assert.rejects(own.locks.acquire('taken', { timeout: 1500 }), late)
      await own.client.query('SELECT 1')
    })
  })
})
