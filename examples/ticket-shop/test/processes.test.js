'use strict'
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const path = require('node:path')
const { measureCrashes, problemsOf } = require('../crashes.js')
const openStore = require('../store')

describe('the shop as several processes', () => {
  before(function () {
    if (process.platform !== 'linux') this.skip() // there are no locks of scope host yet
  })

  it('sells each user one ticket, whichever process dies', async () => {
    const options = { users: 200, connections: 40, processes: 4, killEvery: 200 }
    const row = await measureCrashes({ lock: 'host', ...options })
    assert.deepEqual(row.problems, [])
    assert.deepEqual([row.people, row.doubles], [200, 0])
    assert.ok(row.kills > 0, 'nobody was killed')
  })

  it('prints a table', async () => {
    const main = path.join(__dirname, '..', 'main.js')
    const args = ['--processes', '2', '--users', '60', '--kill', '1000', '--connections', '20']
    const { code, stdout, stderr } = await new Promise((resolve) => {
      execFile(process.execPath, [main, ...args], (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stdout, stderr }),
      )
    })
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    assert.match(stdout, /^\| KeyedMutex of each process +\| +150 \|/m)
    assert.match(stdout, /^\| KeyedMutex, scope 'host' +\| +150 \| +60 \| +60 \| +0 \|/m)
  })

  describe('its verdict', () => {
    const row = {
      ...{ locks: true, users: 2, connections: 5, kills: 1, served: 2, torn: 0 },
      ...{ tickets: 4, remaining: 2, sold: 2, people: 2, doubles: 0, statuses: { 200: 1, 201: 2 } },
    }
    const verdict = (change) => problemsOf({ ...row, ...change }).join('; ')

    it('finds nothing wrong with a good one, nor with one without a lock', () => {
      assert.equal(verdict({}), '')
      assert.equal(verdict({ remaining: 0 }), '') // lost by those who were killed
      assert.equal(verdict({ locks: false, doubles: 1, sold: 3 }), '')
    })
    it('finds what must not be', () => {
      assert.match(verdict({ doubles: 1, sold: 3, remaining: 1 }), /^1 double tickets/)
      assert.match(verdict({ torn: 1 }), /told of two/)
      assert.match(verdict({ people: 1 }), /went without/)
      assert.match(verdict({ kills: 0, remaining: 1 }), /^1 tickets were lost/)
      assert.match(verdict({ remaining: 3 }), /^-1 tickets were lost/)
      assert.match(verdict({ statuses: { 200: 1, 201: 2, 500: 1 } }), /status 500/)
    })
  })

  it('the store refuses whoever had the lock before the last one who read', async () => {
    const store = await openStore({ tickets: 5, databaseUrl: process.env.DATABASE_URL })
    try {
      assert.equal(await store.findOrder('ann', 7n), null)
      await assert.rejects(store.findOrder('ann', 6n), /given to somebody else/)
      await assert.rejects(store.createOrder('ann', 6n), /given to somebody else/)
      assert.equal(await store.findOrder('ann', 8n), null)
      await assert.rejects(store.createOrder('ann', 7n), /given to somebody else/)
      assert.equal((await store.createOrder('ann', 8n)).buyer, 'ann')
      assert.equal((await store.findOrder('ann', 9n)).buyer, 'ann')
      assert.equal(await store.findOrder('bob', 1n), null)
    } finally {
      await store.close()
    }
  })
})
