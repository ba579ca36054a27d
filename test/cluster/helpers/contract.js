'use strict'
// Requirements of every engine (lib/cluster/engine.js), with any server.
const assert = require('node:assert/strict')
const { randomUUID } = require('node:crypto')
const {
  KeyedMutex,
  KeyedRWLock,
  KeyedSemaphore,
  Mutex,
  RecursiveMutex,
  Semaphore,
} = require('../../..')
const { FakeClock } = require('../../helpers/fake_clock.js')
const { contractWorld } = require('./contract_world.js')
const { holdContract, restContract } = require('./hold_contract.js')
const { upgradeContract } = require('./upgrade_contract.js')

/** `setUp()` as in contract_world.js. */
function contract(setUp) {
  const world = contractWorld(setUp)
  describe('locks', () => lockContract(world))
  describe('upgrades', () => upgradeContract(world))
  describe('holds', () => holdContract(world))
  describe('its driver', () => driverContract(world))
}

function lockContract({ engine, several, time, inLine, isTold, isPending, leasesOf, afterLoss }) {
  it('keeps others out, and gives each holder a higher token', async () => {
    const name = randomUUID()
    const [a, b] = await several(2, (engine) => new Mutex({ engine, name }))
    const first = await a.acquire()
    const { promise: waiting } = await inLine(() => b.acquire())
    assert.equal(await isPending(waiting), true)
    first()
    const second = await waiting
    assert.ok(second.fencingToken > first.fencingToken)
    assert.equal(second.abandoned, false)
    assert.equal(second.signal.aborted, false)
    second()
    const third = await a.acquire()
    assert.ok(third.fencingToken > second.fencingToken)
    third()
  })

  it('has been told of every release when close() resolves', async () => {
    const name = randomUUID()
    const [own, other] = await several(2, (engine) => new Mutex({ engine, name }))
    const release = await own.acquire()
    const waiting = own.acquire()
    const closing = own.close()
    await assert.rejects(own.acquire(), { code: 'ERR_LOCK_CLOSED' })
    release()
    const next = await waiting
    next()
    await closing
    const now = await other.acquire({ ifAvailable: true })
    assert.equal(now.abandoned, false)
    now()
    await other.onIdle()
  })

  it('admits as many holders of a Semaphore as it has units, in all processes together', async () => {
    const name = randomUUID()
    const [a, b] = await several(2, (engine) => new Semaphore(3, { engine, name }))
    const [, first] = await a.acquire(2)
    const [, second] = await b.acquire()
    const { promise: waiting } = await inLine(() => b.acquire())
    assert.equal(await isPending(waiting), true)
    await assert.rejects(a.acquire({ timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
    first()
    const [, third] = await waiting
    assert.ok(third.fencingToken > second.fencingToken)
    second()
    third()
  })

  it('keeps others out as long as the outermost hold of a RecursiveMutex', async () => {
    const name = randomUUID()
    const [a, b] = await several(2, (engine) => new RecursiveMutex({ engine, name }))
    const order = []
    let waiting
    await a.runExclusive(async () => {
      const queued = await inLine(() => b.runExclusive(() => order.push('b')))
      waiting = queued.promise
      await a.runExclusive(() => order.push('inner'))
      assert.equal(await isPending(waiting), true)
      order.push('outer')
    })
    await waiting
    assert.deepEqual(order, ['inner', 'outer', 'b'])
  })

  it('admits in order of arrival, across processes', async () => {
    const all = await several(4, (engine) => new KeyedMutex({ engine }))
    const key = randomUUID()
    const release = await all[0].acquire(key)
    const order = []
    const waits = []
    for (const [i, mutex] of all.entries()) {
      if (i > 0) waits.push(await inLine(() => mutex.runExclusive(key, () => order.push(i))))
    }
    release()
    await Promise.all(waits.map(({ promise }) => promise))
    assert.deepEqual(order, [1, 2, 3])
  })

  it('removes a waiter that gives up, and admits the next one', async () => {
    const [a, b, c] = await several(3, (engine) => new KeyedMutex({ engine }))
    const key = randomUUID()
    const release = await a.acquire(key)
    // The wait must not time out before the server has answered.
    const clock = new FakeClock()
    const queued = inLine(() => b.acquire(key, { timeout: 500 }))
    clock.restore()
    const { promise: late } = await queued
    const controller = new AbortController()
    const aborted = b.acquire(key, { signal: controller.signal })
    const last = c.acquire(key)
    clock.advance(500)
    await assert.rejects(late, { code: 'ERR_LOCK_TIMEOUT', message: /key/ })
    controller.abort(new Error('enough'))
    await assert.rejects(aborted, { message: 'enough' })
    await assert.rejects(b.acquire(key, { timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
    release()
    ;(await last)()
    assert.equal(b.size, 0)
    ;(await c.acquire(key, { timeout: 0 }))()
  })

  it('passes a lease on inside a process, and to others before long', async () => {
    const [a, b] = await several(2, (engine) => new KeyedMutex({ engine }))
    const key = randomUUID()
    const order = []
    let last = 0n
    const work = (mutex, who) =>
      mutex.acquire(key).then(async (release) => {
        assert.ok(release.fencingToken > last)
        last = release.fencingToken
        order.push(who)
        await time.pass(1)
        release()
      })
    const first = await a.acquire(key)
    const ours = Array.from({ length: 300 }, () => work(a, 'a'))
    const { promise: other } = await inLine(() => work(b, 'b'))
    await isTold(key)
    first()
    await Promise.all([...ours, other])
    // engines_claims.test.js counts how many are admitted before others, with a server that is
    // never slow.
    assert.ok(order.indexOf('b') < ours.length, `at ${order.indexOf('b')}`)
  })

  it('grants the units of a semaphore, and heavy waiters in their turn', async () => {
    const [a, b, c] = await several(3, (engine) => new KeyedSemaphore(3, { engine }))
    const key = randomUUID()
    const [, first] = await a.acquire(key)
    const [, second] = await b.acquire(key)
    const { promise: heavy } = await inLine(() => c.acquire(key, 3))
    assert.equal(await isPending(heavy), true)
    const { promise: light } = await inLine(() => b.acquire(key))
    assert.equal(await isPending(light), true)
    first()
    second()
    const [, third] = await heavy
    assert.equal(await isPending(light), true)
    third()
    const [, fourth] = await light
    fourth()
  })

  it('lets readers of all processes read together, and a writer write alone', async () => {
    const [a, b, c, d] = await several(4, (engine) => new KeyedRWLock({ engine }))
    const key = randomUUID()
    const readers = [await a.acquireRead(key), await b.acquireRead(key), await a.acquireRead(key)]
    const { promise: writer } = await inLine(() => c.acquireWrite(key))
    const { promise: reader } = await inLine(() => d.acquireRead(key))
    for (const release of readers) {
      assert.equal(await isPending(writer), true)
      release()
    }
    const release = await writer
    assert.equal(await isPending(reader), true)
    release()
    ;(await reader)()
  })

  it('hands over the locks of a closed engine, whose holders are told', async () => {
    const mine = await engine()
    const a = new KeyedMutex({ engine: mine })
    const b = new KeyedMutex({ engine: await engine() })
    const key = randomUUID()
    const release = await a.acquire(key)
    const { promise: next } = await inLine(() => b.acquire(key))
    const { signal } = release
    await mine.close()
    assert.equal(signal.reason.code, 'ERR_LOCK_LOST')
    ;(await next)()
    release()
    await assert.rejects(a.acquire(key), { code: 'ERR_LOCK_ENGINE', message: /closed/ })
  })

  it('takes a lock away from a holder that exceeds maxHold, and tells it before', async () => {
    const a = new KeyedMutex({ engine: await engine({ ttl: 300, maxHold: 400 }) })
    const b = new KeyedMutex({ engine: await engine() })
    const key = randomUUID()
    const release = await a.acquire(key)
    const [lease] = leasesOf(key).slice(-1)
    const second = await afterLoss(release.signal, lease, b.acquire(key))
    assert.equal(release.signal.reason.code, 'ERR_LOCK_LOST')
    assert.equal(second.abandoned, true)
    assert.ok(second.fencingToken > release.fencingToken)
    release()
    const { promise: again } = await inLine(() => a.acquire(key))
    assert.equal(await isPending(again), true)
    second()
    ;(await again)()
  })
}

function driverContract({ driver: makeDriver, time }) {
  const ends = []
  afterEach(() => Promise.all(ends.splice(0).map((end) => end())))

  /** A session as a keeper's thread opens it, and the messages it gets. */
  async function session(ttl = 10_000, isByDriver = false) {
    const driver = makeDriver()
    const keeper = await require(driver.keeper.module).connect(driver.keeper.data, () => {})
    const id = randomUUID()
    const news = []
    let wake
    const hear = (what) => (which) => {
      news.push([what, which])
      wake?.()
    }
    const grants = new Map()
    await driver.listen(id, {
      granted: (which, grant) => {
        grants.set(which, grant)
        hear('granted')(which)
      },
      wanted: hear('wanted'),
      missed: () => {},
      trouble: () => {},
    })
    if (isByDriver) await driver.open(id, ttl)
    else await keeper.open(id, ttl)
    ends.push(async () => {
      await driver.end(id)
      await keeper.close()
      await driver.close()
    })
    let last = 0
    const newId = () => `${id}-${++last}`
    async function next() {
      while (news.length === 0) await new Promise((resolve) => (wake = resolve))
      return news.shift()
    }
    const asking = { session: id, units: 1, capacity: 1, wait: true, first: false, maxHold: 60_000 }
    const timed = { ...asking, minHold: 0, claim: 5000 }
    const common = { ...timed, keep: 0, untold: false, unused: false }
    return {
      id,
      keeper,
      newId,
      next,
      grants,
      confirm: (request) => driver.confirm({ ...common, ...request }),
      enter: (request) => driver.enter({ ...common, ...request }),
      leave: (request) => driver.leave({ ...common, ...request }),
      end: () => driver.end(id),
    }
  }

  restContract(session, time)

  const until = (ask) => heldBy(ask, time)

  it('grants one request once, however often it is asked', async () => {
    const a = await session()
    const request = { key: randomUUID(), id: a.newId() }
    const first = await a.enter(request)
    assert.deepEqual(first, { state: 'held', token: first.token, wanted: false, abandoned: false })
    assert.deepEqual(await a.enter(request), first)
    await a.leave(request)
    await a.leave(request)
    const second = await a.enter({ ...request, id: a.newId() })
    assert.ok(second.token > first.token && second.token < 2n ** 51n)
  })

  it('tells the holder that others wait, and the first waiter of its grant', async () => {
    const [a, b] = [await session(), await session()]
    const key = randomUUID()
    const held = { key, id: a.newId() }
    const wanted = { key, id: b.newId() }
    const { token } = await a.enter(held)
    const { state, look } = await b.enter(wanted)
    assert.equal(state, 'waiting')
    assert.ok(look > 0 && look <= 10_001, `${look}`)
    assert.deepEqual(await a.next(), ['wanted', key])
    await a.leave(held)
    assert.deepEqual(await b.next(), ['granted', wanted.id])
    const granted = await b.enter(wanted)
    assert.equal(granted.state, 'held')
    assert.ok(granted.token > token)
  })

  it('refuses a request that may not wait, and keeps no place for it', async () => {
    const [a, b] = [await session(), await session()]
    const key = randomUUID()
    const held = { key, id: a.newId() }
    await a.enter(held)
    assert.deepEqual(await b.enter({ key, id: b.newId(), wait: false }), { state: 'refused' })
    await a.leave(held)
    assert.equal((await a.enter({ key, id: a.newId() })).wanted, false)
  })

  it('passes over a waiter that does not confirm its grant', async () => {
    const [a, b, c] = [await session(), await session(), await session()]
    const key = randomUUID()
    const claim = 100
    const held = { key, id: a.newId(), claim }
    await a.enter(held)
    await b.enter({ key, id: b.newId(), claim })
    const last = { key, id: c.newId(), claim }
    await c.enter(last)
    await a.leave(held)
    await b.next()
    const answer = await until(() => c.enter(last))
    assert.equal(answer.state, 'held')
    // It may have begun, and the message been lost.
    assert.equal(answer.abandoned, true)
  })

  it('does not count an expired claim, at the next request of any session', async () => {
    const [a, b] = [await session(), await session()]
    const all = { key: randomUUID(), id: a.newId(), units: 3, capacity: 3, wait: false }
    const one = { ...all, id: b.newId(), units: 1, wait: true, claim: 1 }
    await a.enter(all)
    await b.enter(one)
    await a.leave({ ...all, claim: 1 })
    assert.deepEqual(await b.next(), ['granted', one.id])
    await time.pass(10)
    // It is the same request, with a new grant.
    assert.equal((await b.enter(one)).state, 'held')
    await b.leave(one)
    assert.equal((await a.enter({ ...all, id: a.newId() })).state, 'held')
  })

  it('keeps a second grant of a request for its full claim', async () => {
    const [a, b, c] = [await session(), await session(), await session()]
    const key = randomUUID()
    const claim = 2500 // longer than a stall
    const held = { key, id: a.newId(), claim }
    const waiting = { key, id: b.newId(), claim }
    await a.enter(held)
    await b.enter(waiting)
    await a.leave(held)
    const attempt = () => c.enter({ key, id: c.newId(), wait: false, claim })
    assert.equal((await attempt()).state, 'refused')
    const next = { key, id: a.newId(), claim }
    await until(() => a.enter(next))
    assert.equal((await b.enter(waiting)).state, 'waiting')
    await a.leave(next)
    assert.equal((await attempt()).state, 'refused')
  })

  it('returns the grant, which is confirmed once, and never late', async () => {
    const [a, b, c] = [await session(), await session(), await session()]
    const key = randomUUID()
    const claim = 4000
    const held = { key, id: a.newId(), claim }
    const next = { key, id: b.newId(), claim: 1 }
    const last = { key, id: c.newId() }
    const { token } = await a.enter(held)
    const { clock } = await b.enter(next)
    assert.equal((await c.enter(last)).state, 'waiting')
    assert.deepEqual(await b.confirm(next), { state: 'over', wanted: false })
    await a.leave(held)
    assert.deepEqual(await b.next(), ['granted', next.id])
    const grant = b.grants.get(next.id)
    // Some drivers cannot be sure that a confirmation would be sent at once.
    if (grant !== undefined) {
      assert.deepEqual([grant.wanted, grant.abandoned], [true, false])
      assert.ok(grant.token > token)
      assert.ok(grant.until - clock > claim - 2 && grant.until - clock < claim + 10_000)
    }
    assert.deepEqual(await b.confirm(next), { state: 'held', wanted: true })
    const { look } = await c.enter(last)
    assert.ok(look > claim, `${look}`)
    await b.leave(next)
    assert.deepEqual(await b.confirm(next), { state: 'over', wanted: false })
    assert.deepEqual(await c.next(), ['granted', last.id])
    await time.pass(10)
    assert.deepEqual(await c.confirm(last), { state: 'over', wanted: false })
    assert.equal((await c.enter({ ...last, id: c.newId() })).state, 'held')
  })

  it('passes over dead waiters, and tells the next holder of a dead one', async () => {
    const [a, b, c] = [await session(), await session(), await session()]
    const key = randomUUID()
    await a.enter({ key, id: a.newId() })
    await b.enter({ key, id: b.newId() })
    const last = { key, id: c.newId() }
    await c.enter(last)
    await b.end()
    await a.end()
    const answer = await until(() => c.enter(last))
    assert.equal(answer.state, 'held')
    assert.equal(answer.abandoned, true)
    assert.deepEqual(await a.enter({ key, id: a.newId() }), { state: 'lost' })
    assert.equal(await a.keeper.renew(a.id, 1000), false)
    assert.equal(await c.keeper.renew(c.id, 1000), true)
  })

  it('tells the next holder of a dead one, if the first that was told gives up', async () => {
    const [a, b, c] = [await session(), await session(), await session()]
    const key = randomUUID()
    await a.enter({ key, id: a.newId() })
    const first = { key, id: b.newId() }
    const last = { key, id: c.newId() }
    await b.enter(first)
    await c.enter(last)
    await a.end()
    assert.equal((await c.enter(last)).state, 'waiting')
    assert.deepEqual(await b.next(), ['granted', first.id])
    await b.leave({ ...first, untold: true })
    const answer = await until(() => c.enter(last))
    assert.equal(answer.abandoned, true)
  })

  it('ends a session that is not renewed', async () => {
    const key = randomUUID()
    const b = await session()
    const a = await session(2500) // longer than a stall
    await a.enter({ key, id: a.newId() })
    const waiting = { key, id: b.newId() }
    const { look } = await b.enter(waiting)
    assert.ok(look <= 2501, `${look}`)
    const answer = await until(() => b.enter(waiting))
    assert.equal(answer.abandoned, true)
    assert.equal(await a.keeper.renew(a.id, 1000), false)
  })

  it('takes back a lease that exceeds its time', async () => {
    const [a, b] = [await session(), await session()]
    const key = randomUUID()
    const held = { key, id: a.newId(), maxHold: 100 }
    await a.enter(held)
    const waiting = { key, id: b.newId() }
    await b.enter(waiting)
    const answer = await until(() => b.enter(waiting))
    assert.equal(answer.abandoned, true)
    await a.leave(held)
    assert.equal((await b.enter(waiting)).state, 'held')
  })

  it('admits the waiters behind a heavy one that gives up', async () => {
    const a = await session()
    const b = await session()
    const key = randomUUID()
    const capacity = 3
    await a.enter({ key, id: a.newId(), capacity })
    const heavy = { key, id: b.newId(), units: 3, capacity }
    const light = { key, id: b.newId(), units: 2, capacity }
    assert.equal((await b.enter(heavy)).state, 'waiting')
    assert.equal((await b.enter(light)).state, 'waiting')
    await b.leave(heavy)
    assert.deepEqual(await b.next(), ['granted', light.id])
    assert.equal((await b.enter(light)).state, 'held')
  })

  it('opens a session itself, which the keeper renews', async () => {
    const a = await session(2500, true)
    const b = await session()
    const key = randomUUID()
    const held = { key, id: a.newId(), wait: false }
    assert.equal((await a.enter(held)).state, 'held')
    assert.equal(await a.keeper.renew(a.id, 10_000), true)
    await time.pass(3000)
    const other = { key, id: b.newId(), wait: false }
    assert.equal((await b.enter(other)).state, 'refused')
    await a.end()
    assert.equal(await a.keeper.renew(a.id, 10_000), false)
    assert.equal((await b.enter({ ...other, id: b.newId() })).abandoned, true)
  })

  it('opens a session itself that is over when it is not renewed', async () => {
    const [a, b] = [await session(1000, true), await session()]
    const key = randomUUID()
    await a.enter({ key, id: a.newId() })
    const waiting = { key, id: b.newId() }
    assert.equal((await until(() => b.enter(waiting))).abandoned, true)
    assert.equal(await a.keeper.renew(a.id, 1000), false)
  })

  it('removes a waiter that gives up behind a long queue', async () => {
    const [a, b] = [await session(), await session()]
    const all = { key: randomUUID(), id: a.newId(), units: 50, capacity: 50 }
    await a.enter(all)
    const queue = Array.from({ length: 50 }, () => ({ ...all, id: b.newId(), units: 1 }))
    for (const one of queue) assert.equal((await b.enter(one)).state, 'waiting')
    const [early, late] = [queue.slice(0, 40), queue.slice(40)]
    for (const one of late) await b.leave(one)
    await a.leave(all)
    for (const one of early) assert.equal((await until(() => b.enter(one))).state, 'held')
    const rest = { ...all, id: a.newId(), units: 10, wait: false }
    const { state, abandoned } = await a.enter(rest)
    assert.deepEqual([state, abandoned], ['held', false])
  })

  it('gives the holder of one unit the rest ahead of all waiters, and takes it back', async () => {
    const [a, b, c] = [await session(), await session(), await session()]
    const key = randomUUID()
    const capacity = 8
    const rest = { key, units: 7, capacity, first: true }
    const [one, two] = [a, b].map((each) => ({ key, id: each.newId(), capacity }))
    const { token } = await a.enter(one)
    await b.enter(two)
    const waiter = { key, id: c.newId(), capacity, units: 8 }
    assert.equal((await c.enter(waiter)).state, 'waiting')
    const upgrade = { ...rest, id: a.newId() }
    assert.deepEqual(await a.enter({ ...upgrade, wait: false }), { state: 'refused' })
    assert.equal((await a.enter(upgrade)).state, 'waiting')
    assert.equal((await a.enter(upgrade)).state, 'waiting')
    const other = { ...rest, id: b.newId() }
    assert.deepEqual(await b.enter(other), { state: 'upgrading' })
    assert.deepEqual(await b.enter({ ...other, wait: false }), { state: 'upgrading' })
    await b.leave(two)
    const answer = await a.enter(upgrade)
    assert.equal(answer.state, 'held')
    assert.equal(answer.wanted, true)
    assert.ok(answer.token > token)
    await a.leave(upgrade)
    assert.equal((await c.enter(waiter)).state, 'waiting')
    const again = { ...rest, id: a.newId() }
    assert.deepEqual((await a.enter(again)).wanted, true)
    await a.leave({ ...again, keep: 1 })
    await a.leave({ ...one, keep: 1 })
    assert.equal((await c.enter(waiter)).state, 'waiting')
    await a.leave(again)
    await a.leave(one)
    assert.equal((await until(() => c.enter(waiter))).state, 'held')
  })

  it('gives others the units not kept', async () => {
    const [a, b] = [await session(), await session()]
    const key = randomUUID()
    const capacity = 5
    const held = { key, id: a.newId(), units: 5, capacity }
    await a.enter(held)
    const waiting = { key, id: b.newId(), units: 3, capacity }
    assert.equal((await b.enter(waiting)).state, 'waiting')
    await a.leave({ ...held, keep: 3 })
    assert.equal((await b.enter(waiting)).state, 'waiting')
    await a.leave({ ...held, keep: 2 })
    assert.deepEqual(await b.next(), ['granted', waiting.id])
    assert.equal((await b.enter(waiting)).state, 'held')
    await b.leave(waiting)
    const again = { ...waiting, id: b.newId(), wait: false }
    assert.equal((await b.enter(again)).state, 'held')
    // A late command takes nothing back.
    await a.leave({ ...held, keep: 4 })
    await b.leave(again)
    assert.equal((await b.enter({ ...again, id: b.newId() })).state, 'held')
  })

  it('reports a dead holder until a grant has been told', async () => {
    const [a, b] = [await session(), await session()]
    const key = randomUUID()
    await a.enter({ key, id: a.newId() })
    await a.end()
    const first = { key, id: b.newId() }
    assert.equal((await b.enter(first)).abandoned, true)
    await b.leave({ ...first, untold: true })
    const second = { key, id: b.newId() }
    assert.equal((await b.enter(second)).abandoned, true)
    await b.leave(second)
    assert.equal((await b.enter({ key, id: b.newId() })).abandoned, false)
  })

  it('refuses another capacity than the one in use', async () => {
    const [a, b] = [await session(), await session()]
    const key = randomUUID()
    const held = { key, id: a.newId(), capacity: 2 }
    await a.enter(held)
    const other = { key, id: b.newId(), capacity: 3 }
    const both = { key, id: a.newId(), capacity: 2, units: 2 }
    assert.equal((await a.enter(both)).state, 'waiting')
    assert.deepEqual(await b.enter(other), { state: 'mismatch', capacity: 2 })
    // Nor is another request admitted by it.
    await b.leave(other)
    assert.equal((await a.enter(both)).state, 'waiting')
    await a.leave(both)
    await a.leave(held)
    assert.equal((await b.enter(other)).state, 'held')
  })
}

/** Asks the server again and again, until it answers with a lease. */
async function heldBy(ask, time) {
  for (;;) {
    const answer = await ask()
    if (answer.state === 'held') return answer
    await time.pass(Math.min(answer.look, 50))
  }
}

module.exports = { contract }
