'use strict'
// When locks with full diagnostics call the deadlock detection, and with what.
const assert = require('node:assert/strict')
const { Mutex, RWLock, Semaphore } = require('../..')
const deadlock = require('../../lib/diagnostics/deadlock.js')

const names = ['asks', 'endsAsk', 'holds', 'releases', 'gives']

function cancels(mutex) {
  queueMicrotask(() => mutex.cancel())
  return mutex.acquire()
}

describe('Hooks of diagnostics', () => {
  const usual = { ...deadlock }
  let told
  beforeEach(() => {
    told = []
    for (const name of names) deadlock[name] = (...args) => told.push([name, ...args])
  })
  afterEach(() => Object.assign(deadlock, usual))

  const heard = () => told.splice(0).map(([name]) => name)

  it('report a grant at once, with its promise, before the next grant', async () => {
    const mutex = new Mutex({ diagnostics: true })
    const first = mutex.acquire()
    assert.equal(told[0][1], told[1][1])
    assert.equal(told[1][2], first)
    assert.deepEqual(heard(), ['holds', 'gives'])
    const second = mutex.acquire()
    assert.equal(told[0][1].promise, second)
    assert.deepEqual(heard(), ['asks'])
    deadlock.releases = () => {
      assert.equal(mutex.isLocked(), true)
      told.push(['releases'])
    }
    const release = await first
    release()
    assert.deepEqual(heard(), ['releases', 'endsAsk', 'holds'])
    release()
    assert.deepEqual(heard(), [])
    await second
  })

  it('report lock() and runExclusive(), too', async () => {
    const mutex = new Mutex({ diagnostics: true })
    const locked = mutex.lock()
    assert.equal(told[1][2], locked)
    assert.notEqual(
      mutex.lock({ timeout: 5 }).catch(() => {}),
      locked,
    )
    mutex.unlock()
    assert.deepEqual(heard(), ['holds', 'gives', 'asks', 'releases', 'endsAsk', 'holds'])
    mutex.unlock()
    heard()
    await mutex.runExclusive(() => assert.deepEqual(heard(), ['holds', 'gives']))
    assert.deepEqual(heard(), ['releases'])
  })

  for (const [title, wait] of [
    ['out of time', (mutex) => mutex.acquire({ timeout: 1 })],
    ['aborted', (mutex) => mutex.acquire({ signal: AbortSignal.timeout(1) })],
    ['canceled', cancels],
  ]) {
    it(`report a wait that ends because it is ${title}`, async () => {
      const mutex = new Mutex({ diagnostics: true })
      await mutex.lock()
      heard()
      await assert.rejects(wait(mutex))
      assert.deepEqual(heard(), ['asks', 'endsAsk'])
    })
  }

  it('are not called for callers that do not wait', async () => {
    const mutex = new Mutex({ diagnostics: true })
    await mutex.lock()
    heard()
    await assert.rejects(mutex.acquire({ timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
    await assert.rejects(mutex.acquire({ signal: AbortSignal.abort('no') }), (e) => e === 'no')
    assert.equal(mutex.tryAcquire(), undefined)
    assert.ok(!heard().includes('asks'))
  })

  it('can refuse a wait: it leaves the queue at once', async () => {
    const mutex = new Mutex({ diagnostics: true })
    await mutex.lock()
    const error = Object.assign(new Error('a circle'), { code: 'ERR_LOCK_DEADLOCK' })
    deadlock.asks = () => {
      throw error
    }
    const refused = mutex.acquire()
    assert.equal(mutex.snapshot().waiting, 0)
    await assert.rejects(refused, (thrown) => thrown === error)
    assert.equal(mutex.snapshot().totals.deadlocks, 1)
    mutex.unlock()
    assert.equal(mutex.isLocked(), false)
  })

  it('distinguish a reader from a writer, and the upgrading hold from the new one', async () => {
    const lock = new RWLock({ diagnostics: true })
    const reader = await lock.acquireRead()
    const other = await lock.acquireRead()
    assert.equal(told[0][1].mode, 'shared')
    told.length = 0
    const rising = reader.upgrade()
    const [[, wait]] = told
    assert.equal(wait.mode, 'exclusive')
    assert.equal(wait.hold.mode, 'shared')
    assert.deepEqual(heard(), ['asks'])
    other()
    const writer = await rising
    assert.equal(told.at(-1)[1].mode, 'exclusive')
    assert.deepEqual(heard(), ['releases', 'releases', 'endsAsk', 'holds'])
    const again = writer.downgrade()
    assert.deepEqual(heard(), ['releases', 'holds'])
    again()
    assert.deepEqual(heard(), ['releases'])
  })

  it('report how much of a semaphore is held', async () => {
    const semaphore = new Semaphore(3, { diagnostics: true })
    const [, release] = await semaphore.acquire(2)
    assert.equal(told[0][1].weight, 2)
    semaphore.acquire(2)
    assert.equal(told.at(-1)[1].weight, 2)
    heard()
    release()
    assert.deepEqual(heard(), ['releases', 'endsAsk', 'holds'])
  })

  it('report the place, without the frames of this package', async () => {
    const mutex = new Mutex({ diagnostics: true })
    await mutex.lock()
    const { stack } = told[0][1]
    assert.match(stack.split('\n')[0], /hooks\.test\.js/)
  })

  it('are not called with counters only', async () => {
    const mutex = new Mutex({ diagnostics: 'counters' })
    await mutex.runExclusive(() => mutex.acquire({ timeout: 1 }).catch(() => {}))
    const release = await mutex.acquire()
    release()
    assert.deepEqual(told, [])
  })
})
