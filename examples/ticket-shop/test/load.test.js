'use strict'
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const path = require('node:path')
const { measure, problemsOf } = require('../bench.js')
const strategies = require('../locks')

const main = path.join(__dirname, '..', 'main.js')
const run = (...args) =>
  new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    )
  })

describe('the load generator', () => {
  for (const [name, { title, locks }] of Object.entries(strategies)) {
    it(`finds ${locks ? 'no double ticket' : 'double tickets'} with ${title}`, async () => {
      const row = await measure(name, { users: 500, tickets: 450, connections: 20 })
      assert.deepEqual(row.problems, [])
      assert.equal(row.requests, 1250)
      assert.equal(row.sold, 450)
      assert.equal(row.doubles === 0, locks)
      assert.equal(row.people, 450 - row.doubles)
      // 750 of the clicks are second and third ones. They must meet a click of the same user.
      assert.ok(row.concurrent > 700, `only ${row.concurrent} clicks were concurrent`)
      assert.ok(row.p50 > 0 && row.p50 <= row.p99 && row.seconds > 0)
    })
  }

  it('clicks as often as it is told to', async () => {
    const row = await measure('boxoffice', { users: 30, clicks: 5, tickets: 40, connections: 10 })
    assert.deepEqual(row.problems, [])
    assert.deepEqual(row.statuses, { 200: 120, 201: 30 })
  })

  it('prints progress and a table', async () => {
    const { code, stdout, stderr } = await run('--users', '300', '--clicks', '3')
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    assert.match(stdout, /^ {2}900 of 900 requests$/m)
    assert.match(stdout, /^\| KeyedMutex +\| +900 \| +270 \| +270 \| +0 \| +[\d,]+ \|/m)
    assert.match(stdout, /main\.js --serve/)
  })

  const mistakes = [['--users', 'many'], ['--clicks=0'], ['--lock', 'toString'], ['--user', '5']]
  for (const args of mistakes) {
    it(`explains itself on ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await run(...args)
      assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
      assert.match(stderr, /--(users?|clicks|lock)\b.*\n\nUsage:/)
    })
  }
})

describe('the verdict on a row', () => {
  const tickets = { tickets: 9, remaining: 0, sold: 9, people: 9, doubles: 0 }
  const good = { locks: true, users: 10, ...tickets, doublesTold: 0, errors: [] }
  const row = { ...good, statuses: { 200: 10, 201: 9, 409: 1 } }
  const verdict = (change) => problemsOf({ ...row, ...change }).join('; ')

  it('finds nothing wrong with a good one', () => {
    assert.equal(verdict({}), '')
    assert.equal(verdict({ locks: false, people: 5, doubles: 4, doublesTold: 4 }), '')
  })
  it('finds double tickets under a lock', () => {
    assert.match(verdict({ people: 5, doubles: 4, doublesTold: 4 }), /^4 double tickets/)
  })
  it('finds overselling, without a lock too', () => {
    const oversold = { locks: false, sold: 11, people: 11, remaining: -2, statuses: { 201: 11 } }
    assert.equal(verdict(oversold), '2 tickets too many were sold')
  })
  it('finds lost tickets', () => {
    assert.match(
      verdict({ sold: 8, people: 8, remaining: 1, statuses: { 201: 8 } }),
      /went without/,
    )
    assert.match(verdict({ remaining: 1 }), /do not add up/)
  })
  it('finds answers that contradict the database', () => {
    assert.match(verdict({ statuses: { 201: 10 } }), /disagree/)
    assert.match(verdict({ doublesTold: 1 }), /disagree on double tickets/)
  })
  it('finds failed requests', () => {
    assert.match(verdict({ errors: ['reset'] }), /^1 requests failed: reset/)
    assert.match(verdict({ statuses: { ...row.statuses, 500: 1 } }), /status 500/)
  })
})
