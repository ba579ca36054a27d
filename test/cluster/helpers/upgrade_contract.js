'use strict'
// From reader to writer and back over an engine, with any server: see contract.js.
const assert = require('node:assert/strict')
const { randomUUID } = require('node:crypto')
const { setTimeout: sleep } = require('node:timers/promises')
const { KeyedRWLock } = require('../../..')
const { bounds } = require('../../../lib/core/cohort.js')
const { FakeClock } = require('../../helpers/fake_clock.js')
const { scaled } = require('../../helpers/scale.js')

const refused = {
  code: 'ERR_LOCK_UPGRADE',
  message: /^another reader of the read-write lock of key /,
}
const ended = {
  code: 'ERR_LOCK_NOT_HELD',
  message: /^this releaser of the read-write lock of key /,
}

/** In the world of contract_world.js. */
function upgradeContract({ engine, several, time, inLine, isPending, leasesOf, afterLoss }) {
  const locks = (count) => several(count, (engine) => new KeyedRWLock({ engine }))

  it('makes the only reader the writer, with a token of its own, and back', async () => {
    const [a, b] = await locks(2)
    const key = randomUUID()
    const reader = await a.acquireRead(key)
    const writer = await reader.upgrade()
    assert.equal(a.isWriteLocked(key), true)
    assert.ok(writer.fencingToken > reader.fencingToken)
    assert.throws(() => reader.upgrade(), ended)
    reader()
    await assert.rejects(b.acquireRead(key, { timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
    const other = b.acquireRead(key)
    const again = writer.downgrade()
    assert.ok(again.fencingToken > writer.fencingToken)
    assert.throws(() => writer.downgrade(), ended)
    writer()
    ;(await other)()
    assert.equal(a.readers(key), 1)
    ;(await again.upgrade()).release()
    ;(await b.acquireWrite(key, { timeout: 5000 }))()
    assert.equal(a.size, 0)
  })

  it('makes a writer a reader, which others join, and no writer', async () => {
    const [a, b, c] = await locks(3)
    const key = randomUUID()
    const writer = await a.acquireWrite(key)
    const near = a.acquireRead(key)
    const { promise: far } = await inLine(() => b.acquireRead(key))
    const { promise: last } = await inLine(() => c.acquireWrite(key))
    const reader = writer.downgrade()
    const others = await Promise.all([near, far])
    assert.equal(await isPending(last), true)
    for (const release of others) release()
    reader()
    ;(await last)()
  })

  it('waits for other readers, ahead of all waiters', async () => {
    const [a, b, c] = await locks(3)
    const key = randomUUID()
    const [one, near, far] = [
      await a.acquireRead(key),
      await a.acquireRead(key),
      await b.acquireRead(key),
    ]
    const order = []
    const write = async () => {
      const release = await c.acquireWrite(key)
      order.push('writer')
      release()
    }
    const { promise: writer } = await inLine(write)
    const upgraded = one.upgrade()
    near()
    assert.equal(await isPending(upgraded), true)
    await assert.rejects(one.upgrade(), refused)
    far()
    const release = await upgraded
    order.push('upgraded')
    release()
    await writer
    assert.deepEqual(order, ['upgraded', 'writer'])
  })

  it('refuses the second of two upgrades, here and elsewhere, and its reader keeps reading', async () => {
    const [a, b] = await locks(2)
    const key = randomUUID()
    const [one, near, far] = [
      await a.acquireRead(key),
      await a.acquireRead(key),
      await b.acquireRead(key),
    ]
    const upgraded = one.upgrade()
    await assert.rejects(near.upgrade(), refused)
    near()
    assert.equal(await isPending(upgraded), true)
    await assert.rejects(far.upgrade(), refused)
    await assert.rejects(far.upgrade({ timeout: 0 }), refused)
    assert.equal(b.readers(key), 1)
    far()
    ;(await upgraded)()
    assert.equal(a.size + b.size, 0)
  })

  it('keeps reading after an upgrade gave up, and keeps no reader out', async () => {
    const [a, b, c] = await locks(3)
    const key = randomUUID()
    const [one, far] = [await a.acquireRead(key), await b.acquireRead(key)]
    await assert.rejects(one.upgrade({ timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
    // It must not time out before the server has answered.
    const clock = new FakeClock()
    const queued = inLine(() => one.upgrade({ timeout: 500 }))
    clock.restore()
    const { promise: late } = await queued
    clock.advance(500)
    await assert.rejects(late, { code: 'ERR_LOCK_TIMEOUT' })
    const controller = new AbortController()
    const asked = await inLine(() => one.upgrade({ signal: controller.signal }))
    const aborted = asked.promise
    const near = a.acquireRead(key)
    assert.equal(await isPending(aborted), true)
    controller.abort(new Error('enough'))
    await assert.rejects(aborted, { message: 'enough' })
    ;(await near)()
    ;(await c.acquireRead(key, { timeout: 5000 }))()
    assert.equal(a.readers(key), 1)
    far()
    ;(await one.upgrade({ timeout: 5000 }))()
  })

  it('a reader that releases during its upgrade gives up both', async () => {
    const [a, b] = await locks(2)
    const key = randomUUID()
    const [one, far] = [await a.acquireRead(key), await b.acquireRead(key)]
    const { promise: upgraded } = await inLine(() => one.upgrade())
    one()
    await assert.rejects(upgraded, ended)
    far()
    ;(await b.acquireWrite(key, { timeout: 5000 }))()
    assert.equal(a.size, 0)
    // Too early for any answer.
    const two = await a.acquireRead(key)
    const soon = two.upgrade()
    two()
    await assert.rejects(soon, ended)
    ;(await b.acquireWrite(key, { timeout: 5000 }))()
    assert.equal(a.size, 0)
  })

  it('grants the readers that an upgrade of their process waits for', async () => {
    const [a, b] = await locks(2)
    const key = randomUUID()
    const reader = await a.acquireRead(key)
    const upgrading = await b.acquireRead(key)
    const { promise: writer } = await inLine(() => reader.upgrade())
    // Longer than a process may keep its lease while others wait.
    await time.pass(2 * bounds.remote.most)
    const { promise: other } = await inLine(() => b.acquireRead(key))
    const refusal = assert.rejects(upgrading.upgrade(), refused)
    ;(await other)()
    await refusal
    upgrading()
    ;(await writer)()
    assert.equal(a.size + b.size, 0)
  })

  it('keeps a writer alone while readers upgrade, downgrade and give up', async function () {
    this.timeout(60_000)
    const all = await locks(3)
    const key = randomUUID()
    const world = {
      ...{ readers: 0, writers: 0, last: 0n },
      check() {
        assert.ok(this.writers + Math.min(1, this.readers) <= 1, `${this.writers} ${this.readers}`)
      },
    }
    const end = performance.now() + scaled(1000, 200)
    const isOver = () => performance.now() > end
    await Promise.all([...all, ...all, ...all].map((lock) => wander(lock, key, world, isOver)))
    for (const lock of all) {
      ;(await lock.acquireWrite(key, { timeout: 5000 }))()
      assert.equal(lock.size, 0)
    }
  })

  it('aborts the signal after an upgrade when the lease it read by is lost', async () => {
    // Longer than a stall, in which the upgrade would fail.
    const own = await engine({ ttl: 2500, maxHold: 2500 })
    const a = new KeyedRWLock({ engine: own })
    const b = new KeyedRWLock({ engine: await engine() })
    const key = randomUUID()
    const reader = await a.acquireRead(key)
    const { signal } = reader
    const writer = await reader.upgrade()
    assert.equal(writer.signal, signal)
    const [lease] = leasesOf(key)
    const next = await afterLoss(signal, lease, b.acquireWrite(key, { timeout: 20_000 }))
    assert.equal(signal.reason.code, 'ERR_LOCK_LOST')
    assert.equal(next.abandoned, true)
    const again = writer.downgrade()
    assert.equal(again.signal, signal)
    await assert.rejects(again.upgrade(), { code: 'ERR_LOCK_LOST' })
    again()
    next()
    assert.equal(a.size, 0)
  })
}

/** Upgrades, downgrades and gives up at random, by `lock`, until `isOver()`. */
async function wander(lock, key, world, isOver) {
  const chance = (part) => Math.random() < part
  const limits = () => (chance(0.3) ? { timeout: Math.floor(Math.random() * 20) } : undefined)
  const read = async (release) => {
    world.readers++
    world.check()
    if (chance(0.5)) await sleep(1)
    world.readers--
    return release
  }
  const write = async (release) => {
    world.writers++
    world.check()
    assert.ok(release.fencingToken > world.last)
    world.last = release.fencingToken
    if (chance(0.5)) await sleep(1)
    world.writers--
    return release
  }
  while (!isOver()) {
    let release
    try {
      if (chance(0.3)) {
        release = await write(await lock.acquireWrite(key, limits()))
        if (chance(0.5)) release = await read(release.downgrade())
      } else {
        release = await read(await lock.acquireRead(key, limits()))
      }
      if (release.upgrade !== undefined && chance(0.5)) {
        release = await write(await release.upgrade(limits()))
      }
    } catch (error) {
      assert.match(error.code, /^ERR_LOCK_(TIMEOUT|ENGINE|UPGRADE)$/)
    }
    release?.()
  }
}

module.exports = { upgradeContract }
