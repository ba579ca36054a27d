'use strict'
// A waiter that a message tells of its grant is admitted at once, and confirms meanwhile.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { KeyedMutex } = require('../..')
const { timedWorld } = require('./helpers/fake_world.js')

describe('Claims over an engine', () => {
  const world = timedWorld()
  const { newEngine, count } = world
  const never = new Promise(() => {})

  /** Two engines that share a key: the first one holds it, the second one waits. */
  async function pair(options, change) {
    const [one, two] = [await newEngine(options), await newEngine(options, change)]
    const [a, b] = [one, two].map((engine) => new KeyedMutex({ engine }))
    const release = await a.acquire('key')
    const next = b.acquire('key')
    await world.queued()
    world.server.commands = []
    return { a, b, release, next }
  }

  /** How many milliseconds pass until `promise` settles. */
  async function timeUntil(promise) {
    const start = world.clock.now()
    await world.clock.until(promise)
    return world.clock.now() - start
  }

  it('admit a waiter by the message, before any command is answered', async () => {
    const { a, release, next } = await pair()
    world.server.slowAnswer = never
    release()
    const granted = await next
    assert.equal(granted.abandoned, false)
    assert.ok(granted.fencingToken > release.fencingToken)
    assert.deepEqual([count('confirm'), count('enter')], [1, 0])
    // Nor does it wait for the answer when it releases.
    world.server.slowAnswer = undefined
    granted()
    ;(await a.acquire('key', { timeout: 1000 }))()
  })

  it('last for maxHold once they are confirmed', async () => {
    const { a, release, next } = await pair({ ttl: 1500, maxHold: 5000 })
    release()
    const granted = await next
    const other = a.acquire('key')
    // By then the claim, of 1,000 ms, would be over.
    await world.clock.pass(1300)
    assert.equal(granted.signal.aborted, false)
    assert.equal(a.snapshot()[0].locked, false)
    granted()
    ;(await other)()
  })

  it('abort their signal before another caller is admitted, if they cannot be confirmed', async () => {
    const confirm = async () => {
      throw new Error('cut')
    }
    const { a, release, next } = await pair({ ttl: 1500 }, () => ({ confirm }))
    release()
    const granted = await next
    const order = []
    granted.signal.addEventListener('abort', () => order.push('lost'))
    const other = await world.clock.until(a.acquire('key'))
    order.push('next')
    assert.deepEqual(order, ['lost', 'next'])
    assert.equal(granted.signal.reason.code, 'ERR_LOCK_LOST')
    assert.match(granted.signal.reason.message, /not confirmed in time/)
    assert.equal(other.abandoned, true)
    assert.ok(other.fencingToken > granted.fencingToken)
    other()
    granted()
  })

  it('leave nothing held at the server if their confirmation is answered too late', async () => {
    for (const fails of [false, true]) {
      const { a, release, next } = await pair({ ttl: 60_000, maxHold: 3_600_000 })
      let answer
      world.server.slowAnswer = new Promise((resolve, reject) => {
        answer = fails ? () => reject(new Error('cut')) : resolve
      })
      world.server.slowAnswer.catch(() => {})
      release()
      const granted = await next
      const { signal } = granted
      await world.clock.until(new Promise((resolve) => signal.addEventListener('abort', resolve)))
      world.server.slowAnswer = undefined
      answer()
      granted()
      const other = await world.clock.until(a.acquire('key', { timeout: 10_000 }))
      assert.equal(other.abandoned, true)
      other()
    }
  })

  it('leave nothing held at the server if the answer to their confirmation was cut', async () => {
    let isCut = false
    const { a, release, next } = await pair({ ttl: 60_000, maxHold: 3_600_000 }, (driver) => ({
      async confirm(request) {
        if (isCut) throw new Error('refused')
        isCut = true
        await driver.confirm(request)
        throw new Error('cut')
      },
    }))
    release()
    const { signal } = await next
    await world.clock.until(new Promise((resolve) => signal.addEventListener('abort', resolve)))
    isCut = false
    const other = await world.clock.until(a.acquire('key', { timeout: 10_000 }))
    assert.equal(other.abandoned, true)
    other()
  })

  it('end in time if the clock of the server has been set forward', async () => {
    const { a, release, next } = await pair({}, () => ({ confirm: () => never }))
    const { clock } = world.server
    world.server.clock = () => clock() + 5000
    release()
    const granted = await next
    // It lasts as long as a claim.
    assert.equal(await timeUntil(once(granted.signal, 'abort')), 0.99 * 1000 - 2)
    granted()
    ;(await world.clock.until(a.acquire('key')))()
  })

  it('are confirmed by another command if one has failed', async () => {
    let failures = 0
    const change = (driver) => ({
      confirm: (request) =>
        failures++ < 2 ? Promise.reject(new Error('cut')) : driver.confirm(request),
    })
    const { release, next } = await pair({ ttl: 1500 }, change)
    release()
    const granted = await next
    await world.clock.pass(1300)
    assert.equal(failures, 3)
    assert.equal(granted.signal.aborted, false)
    granted()
  })

  it('abort their signal at once if the server answers that they are over', async () => {
    const confirm = async () => ({ state: 'over', wanted: false })
    const later = (driver) => ({ confirm: (request) => driver.enter(request).then(confirm) })
    const { release, next } = await pair({}, later)
    release()
    const granted = await next
    assert.equal(await timeUntil(once(granted.signal, 'abort')), 0)
    assert.equal(granted.signal.reason.code, 'ERR_LOCK_LOST')
    granted()
  })

  it('do not begin if the server has reported their end before', async () => {
    const confirm = async () => ({ state: 'over', wanted: false })
    const { release, next } = await pair({}, () => ({ confirm }))
    release()
    const granted = await next
    assert.equal(count('enter'), 1)
    assert.equal(granted.signal.aborted, false)
    granted()
  })

  const asked = [
    ['a message came late', 1000, 700, true],
    ['a message does not say what was granted', 1000, 0, false],
  ]
  for (const [what, ttl, delay, tells] of asked) {
    it(`are confirmed before use if ${what}`, async () => {
      world.server.tells = tells
      const change = (driver) => ({
        listen: (session, listener) =>
          driver.listen(session, {
            ...listener,
            granted: (...words) => setTimeout(listener.granted, delay, ...words),
          }),
      })
      const { release, next } = await pair({ ttl }, change)
      release()
      const granted = await world.clock.until(next)
      assert.deepEqual([count('confirm'), count('enter')], [0, 1])
      granted()
    })
  }

  it('go to the next waiter if the waiter gives up at that moment', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const change = (driver) => ({
      confirm(request) {
        controller.abort(new Error('enough'))
        return driver.confirm(request)
      },
    })
    const engine = await newEngine({}, change)
    const [a, b] = [await newEngine(), engine].map((engine) => new KeyedMutex({ engine }))
    const release = await a.acquire('key')
    const next = b.acquire('key', { signal })
    await world.queued()
    release()
    await assert.rejects(next, { message: 'enough' })
    ;(await a.acquire('key', { timeout: 1000 }))()
  })

  it('pass along some quick hand-offs first, because one to another process takes long', async () => {
    const all = [await newEngine(), await newEngine(), await newEngine()]
    const [a, b, c] = all.map((engine) => new KeyedMutex({ engine }))
    /** How many waiters of b enter before c, which has waited when they entered, if each holds it for `time` ms. */
    async function enteredBefore(time) {
      const release = await a.acquire('key')
      let count = 0
      let isOver = false
      const work = async () => {
        while (!isOver) {
          await b.runExclusive('key', () => {
            count++
            world.clock.block(time)
          })
        }
      }
      const waits = [work(), work()]
      await world.queued(1)
      const end = () => {
        isOver = true
        return count
      }
      const admitted = c.runExclusive('key', end)
      await world.queued(2)
      release()
      const counted = await admitted
      await Promise.all(waits)
      return counted
    }
    // 64 of them and at least 2 ms, at most 100 ms.
    const counts = [await enteredBefore(1 / 64), await enteredBefore(1), await enteredBefore(2)]
    assert.deepEqual(counts, [128, 64, 50])
  })

  it('pass along no more hand-offs where another waiter has replaced the first one', async () => {
    const all = [await newEngine(), await newEngine()]
    const [a, b] = all.map((engine) => new KeyedMutex({ engine }))
    const release = await a.acquire('key')
    const controller = new AbortController()
    const first = assert.rejects(b.acquire('key', { signal: controller.signal }))
    await world.queued()
    await world.clock.pass(50)
    controller.abort()
    await first
    // 100 ms after the first one began to wait, each hand-off takes 1 ms.
    await isPassedOn(a, release, b, 50)
  })

  it('are not passed on once they are over, even if the event loop was blocked', async () => {
    const { a, b, release, next } = await pair({}, () => ({ confirm: () => never }))
    release()
    const granted = await next
    let isIn = false
    const here = b.acquire('key').finally(() => {
      isIn = true
    })
    world.clock.skip(1000)
    const there = await a.acquire('key')
    granted()
    await world.clock.settle()
    assert.equal(isIn, false)
    there()
    ;(await here)()
  })

  it('report other waiters that arrive before the claim is confirmed', async () => {
    const { a, b, release, next } = await pair()
    release()
    await isPassedOn(b, await next, a, 64)
  })

  it('are told of other waiters, as a lease is that arrives before its answer', async () => {
    const all = [await newEngine(), await newEngine()]
    const [a, b] = all.map((engine) => new KeyedMutex({ engine }))
    let answer
    world.server.slowAnswer = new Promise((resolve) => {
      answer = resolve
    })
    const late = a.acquire('key')
    await world.clock.settle()
    const other = b.acquire('key').then((release) => release())
    await world.queued()
    answer()
    const release = await late
    // Its holder is the first of the 64.
    await isPassedOn(a, release, b, 63)
    await other
  })

  /** `mine` holds the lock, and so many of its local waiters enter before `other`. */
  async function isPassedOn(mine, release, other, count) {
    const order = []
    const work = (mutex, who) =>
      mutex.runExclusive('key', () => world.clock.pass(1).then(() => order.push(who)))
    const all = Array.from({ length: 100 }, () => work(mine, 'mine'))
    all.push(work(other, 'other'))
    await world.clock.settle()
    release()
    await Promise.all(all)
    assert.equal(order.indexOf('other'), count)
  }
})
