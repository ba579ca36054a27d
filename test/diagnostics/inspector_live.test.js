'use strict'
// The inspector of this process: how it shows held and awaited locks.
const assert = require('node:assert/strict')
const { KeyedMutex, Mutex, Semaphore } = require('boxoffice')
const { inspector } = require('boxoffice/inspector')
const { ask, closeServers, serve } = require('../helpers/inspected.js')
const { turn } = require('../helpers/promises.js')
const { scaled } = require('../helpers/scale.js')

describe('the inspector of a process', () => {
  afterEach(closeServers)

  const open = () => serve(inspector())
  async function look(server, filter) {
    const { status, body } = await ask(server, `/data?filter=${encodeURIComponent(filter)}`)
    assert.equal(status, 200, body)
    return JSON.parse(body)
  }
  /** The held and awaited locks, as [title, key, holder, number of waiters]. */
  const shown = ({ rows, locks }) =>
    rows.map(({ lock, key, held, waiting }) => [locks[lock].kind, key, held, waiting])

  it('shows held and awaited keys, with the holder and its stack', async () => {
    const users = new KeyedMutex({ name: 'inspected users', diagnostics: true })
    const server = await open()
    const release = await users.acquire('ada')
    const second = users.acquire('ada')
    const other = await users.acquire(7n)
    const before = performance.timeOrigin + performance.now()
    const report = await look(server, 'inspected users')
    assert.deepEqual(shown(report), [
      ['KeyedMutex', '"ada"', 1, 1],
      ['KeyedMutex', '7n', 1, 0],
    ])
    const [{ holders, oldestWait }] = report.rows
    assert.equal(report.pid, process.pid)
    assert.equal(holders[0].thread, 0)
    assert.ok(holders[0].since <= before && holders[0].heldFor >= 0)
    assert.ok(oldestWait >= 0)
    assert.match(report.stacks[holders[0].stack], /inspector_live\.test\.js/)
    release()
    ;(await second)()
    other()
    assert.equal(report.totals.length, 1)
  })

  it('shows counters of idle locks', async () => {
    const mutex = new Mutex({ name: 'counted mutex', diagnostics: 'counters' })
    const semaphore = new Semaphore(2, { name: 'counted semaphore', diagnostics: 'counters' })
    const server = await open()
    const first = await mutex.acquire()
    const waits = mutex.acquire()
    first()
    ;(await waits)()
    await semaphore.runExclusive(() => {}, 2)
    const report = await look(server, 'counted')
    assert.deepEqual(report.rows, [])
    const counted = report.totals.map(({ lock, totals, waits }) => {
      const many = waits.buckets.reduce((sum, count) => sum + count, 0)
      return [report.locks[lock].name, totals.acquisitions, totals.contended, many]
    })
    assert.deepEqual(counted.sort(), [
      ['counted mutex', 2, 1, 1],
      ['counted semaphore', 1, 0, 0],
    ])
  })

  it('shows the deadlock that was refused', async () => {
    const [a, b] = ['a', 'b'].map(
      (name) => new Mutex({ name: `inspected ${name}`, diagnostics: true }),
    )
    const both = (first, second) =>
      first.runExclusive(async () => {
        await turn()
        await second.runExclusive(() => {})
      })
    const ends = await Promise.allSettled([both(a, b), both(b, a)])
    assert.deepEqual(ends.map(({ reason }) => reason?.code).filter(Boolean), ['ERR_LOCK_DEADLOCK'])
    const { deadlocks, stacks } = await look(await open(), '')
    const { message, cycle } = deadlocks.at(-1)
    assert.match(message, /inspected a/)
    assert.deepEqual(cycle.map(({ waitsFor }) => waitsFor.name).sort(), [
      'inspected a',
      'inspected b',
    ])
    for (const { holds } of cycle) assert.match(stacks[holds[0].stack], /inspector_live\.test\.js/)
  })

  it('shows thousands of keys', async () => {
    const keys = Array.from({ length: scaled(10_000, 1000) }, (_, i) => `user-${i}`)
    const users = new KeyedMutex({ diagnostics: 'counters' })
    const server = await open()
    const releases = await Promise.all(keys.map((key) => users.acquire(key)))
    const { rows, found, locks } = await look(server, 'user-')
    for (const release of releases) release()
    assert.equal(found, keys.length)
    for (const name of ['key', 'id']) {
      assert.equal(new Set(rows.map((row) => row[name])).size, keys.length)
    }
    assert.equal(locks.length, 1)
  })
})
