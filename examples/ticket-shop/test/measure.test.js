'use strict'
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const net = require('node:net')
const path = require('node:path')
const { measure, problemsOf } = require('../measure.js')

const main = path.join(__dirname, '..', 'main.js')
const run = (...args) =>
  new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    )
  })

describe('a row of the table', () => {
  const { DATABASE_URL: databaseUrl } = process.env
  const size = { users: 200, tickets: 400, connections: 20, pause: 20, databaseUrl }

  for (const [lock, processes, doubles] of [
    ['none', 1, true],
    ['map', 1, false],
    ['boxoffice', 1, false],
    ['map', 4, true],
  ]) {
    const expected = doubles ? 'double tickets' : 'no double ticket'
    it(`${lock}, ${processes === 1 ? 'one process' : `${processes} processes`}: ${expected}`, async () => {
      const row = await measure({ ...size, lock, processes })
      assert.deepEqual(row.problems, [])
      assert.equal(row.requests, 500)
      assert.equal(row.doubles > 0, doubles)
      assert.ok(row.p50 > 0 && row.p50 <= row.p99)
    })
  }

  it('scope host sells each user one ticket while a holder is killed', async function () {
    if (process.platform !== 'linux') this.skip()
    const row = await measure({ ...size, lock: 'host', processes: 4, kills: 3 })
    assert.deepEqual(row.problems, [])
    assert.deepEqual([row.people, row.doubles, row.kills], [200, 0, 3])
  })

  it('sells no more tickets than there are', async () => {
    const row = await measure({ ...size, tickets: 50, lock: 'boxoffice', processes: 1 })
    assert.deepEqual(row.problems, [])
    assert.deepEqual([row.sold, row.remaining], [50, 0])
  })
})

describe('the command', () => {
  it('prints the table, and ends', async () => {
    const { code, stdout, stderr } = await run('--users', '60', '--connections', '20')
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    assert.match(stdout, /^\| no lock +\| +1 \| +150 \|/m)
    assert.match(stdout, /^\| KeyedMutex +\| +1 \| +150 \| +60 \| +60 \| +0 \| +0 \|/m)
    assert.match(stdout, /^\| Map of async-mutex +\| +4 \| +150 \|/m)
    assert.match(stdout, /^With no lock in one process, the shop sold \d+ double tickets?\.$/m)
    assert.match(
      stdout,
      /^With KeyedMutex in one process, each of 60 users has exactly one ticket\.$/m,
    )
    if (process.platform === 'linux') {
      assert.match(
        stdout,
        /^\| KeyedMutex, scope 'host' +\| +4 \| +150 \| +60 \| +60 \| +0 \| +1 \|/m,
      )
      const last =
        /^With .* 'host' in 4 processes, each .* one ticket, although one process was killed\.$/m
      assert.match(stdout, last)
    }
  })

  it('says which option changes the port when it is taken', async () => {
    const other = net.createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address()
    const { code, stdout, stderr } = await run('--serve', '--port', String(port))
    other.close()
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
    assert.match(stderr, new RegExp(`^Port ${port} is taken .* --port \\d+\\n$`))
  })

  const mistakes = [['--users', 'many'], ['--clicks=0'], ['--lock', 'toString'], ['--user', '5']]
  for (const args of mistakes) {
    it(`explains its options on ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await run(...args)
      assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
      assert.match(stderr, /--(users?|clicks|lock)\b.*\n\nUsage:/)
    })
  }
})

describe('the verdict on a row', () => {
  const row = {
    ...{ guarded: true, users: 2, connections: 5, kills: 0, killsWanted: 0, doublesTold: 0 },
    ...{ tickets: 4, remaining: 2, sold: 2, people: 2, doubles: 0, statuses: { 200: 1, 201: 2 } },
  }
  const verdict = (change) => problemsOf({ ...row, ...change }).join('; ')
  const killed = { kills: 1, killsWanted: 1 }

  it('accepts a good one', () => {
    assert.equal(verdict({}), '')
    assert.equal(verdict({ ...killed, remaining: 1 }), '') // lost by the killed process
    const unguarded = { guarded: false, sold: 3, remaining: 1, doubles: 1, doublesTold: 1 }
    assert.equal(verdict({ ...unguarded, statuses: { 201: 3 } }), '')
  })
  it('reports double tickets under a lock, and a row without a lock that has none', () => {
    assert.match(verdict({ doubles: 1, doublesTold: 1 }), /^1 double tickets/)
    assert.match(verdict({ ...killed, doublesTold: 1 }), /told of two/)
    assert.match(verdict({ guarded: false }), /^no double ticket/)
  })
  it('finds overselling and lost tickets', () => {
    const oversold = { sold: 5, people: 5, remaining: -1, statuses: { 201: 5 } }
    assert.match(verdict(oversold), /^1 tickets too many were sold/)
    assert.match(verdict({ remaining: 1 }), /^1 tickets were lost/)
    assert.match(verdict({ remaining: 3 }), /^-1 tickets were lost/)
    assert.match(verdict({ sold: 1, remaining: 3, statuses: { 201: 1 } }), /went without/)
  })
  it('finds answers that contradict the database', () => {
    assert.match(verdict({ statuses: { 201: 1 } }), /disagree/)
    assert.match(verdict({ doublesTold: 1 }), /disagree on doubles/)
    assert.match(verdict({ statuses: { 200: 1, 201: 2, 500: 1 } }), /status 500/)
  })
  it('reports that no process was killed', () => {
    assert.match(verdict({ killsWanted: 1 }), /^0 processes were killed/)
  })
})
