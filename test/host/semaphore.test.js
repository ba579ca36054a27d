'use strict'
const assert = require('node:assert/strict')
const { KeyedSemaphore, Semaphore } = require('../..')
const { useHosts } = require('../helpers/hosts.js')
const { freshName, within } = require('../helpers/agents.js')

const turn = () => new Promise(setImmediate)

describe('A Semaphore of scope host', function () {
  // The tests start processes, and on a busy machine a process may not run for a while.
  this.timeout(120_000)
  const hosts = useHosts()
  const open = (value, name, options) =>
    new Semaphore(value, { scope: 'host', name, directory: hosts.directory, ...options })
  const openThere = (value, name) =>
    `my.semaphore = new boxoffice.Semaphore(${value}, { scope: 'host', name: ${JSON.stringify(name)}, allowBlockingMainThread: true });`
  const waiters = async (semaphore, count) => {
    while (semaphore.snapshot().waiterPids.length < count) await turn()
  }

  /** Resolves when the units of a dead process have been cleaned up. */
  const isForgotten = async ({ pid }, report) => {
    while (report()?.holderPids.includes(pid)) await turn()
  }

  it('counts correctly when processes take units that others put back', async () => {
    const name = freshName()
    const most = 2 ** 29 - 1
    const semaphore = open(most, name)
    const host = hosts.start()
    await host.does(openThere(most, name))
    for (let i = 0; i < 9; i++) {
      await host.does(`await my.semaphore.acquire(${most})`)
      assert.equal(semaphore.getValue(), 0)
      semaphore.release(most)
      assert.equal(semaphore.getValue(), most)
    }
  })

  it('counts for all processes', async () => {
    const name = freshName()
    const semaphore = open(5, name)
    const host = hosts.start()
    const [before, release] = await semaphore.acquire(2)
    assert.equal(before, 5)
    assert.deepEqual(
      await host.does(`${openThere(5, name)}
        const [value, release] = await my.semaphore.acquire(3)
        my.release = release
        return [value, my.semaphore.getValue(), my.semaphore.isLocked(), my.semaphore.tryAcquire()]`),
      [3, 0, true, undefined],
    )
    const { holderPids, ...rest } = semaphore.snapshot()
    assert.deepEqual(rest, { value: 0, waiting: 0, waiterPids: [] })
    assert.deepEqual(new Set(holderPids), new Set([process.pid, host.pid]))
    const waiting = semaphore.acquire(4)
    release()
    release()
    assert.equal(semaphore.getValue(), 2)
    await host.does('my.release()')
    const [, second] = await waiting
    assert.equal(semaphore.getValue(), 1)
    second()
    assert.equal(semaphore.getValue(), 5)
  })

  it('admits by weight, in order of the processes, and by priority within one', async () => {
    const name = freshName()
    const semaphore = open(2, name)
    const host = hosts.start()
    const [, release] = await semaphore.acquire(2)
    await host.does(openThere(2, name))
    const there = host.does('const [, release] = await my.semaphore.acquire(2); release()')
    await waiters(semaphore, 1)
    const order = []
    const take = async (weight, priority) => {
      const [, back] = await semaphore.acquire(weight, priority)
      order.push(priority)
      await turn()
      back()
    }
    const all = [take(1, 0), take(2, 2), take(1, 1)]
    release()
    await within(30_000, Promise.all([there, ...all]))
    assert.equal(order[0], 2)
    assert.equal(semaphore.getValue(), 2)
  })

  it('blocks threads, which can give up', async () => {
    const name = freshName()
    const semaphore = open(1, name, { allowBlockingMainThread: true })
    const host = hosts.start()
    const [, release] = await semaphore.acquire()
    const there = host.does(`${openThere(1, name)}
      return codeOf(() => my.semaphore.acquireSync(1, { timeout: 5 }))`)
    assert.equal(await there, 'ERR_LOCK_TIMEOUT')
    const later = host.does('const [, release] = my.semaphore.acquireSync(); release()')
    await waiters(semaphore, 1)
    release()
    await later
    const [, again] = await semaphore.acquire()
    await assert.rejects(semaphore.acquire(1, { timeout: 5 }), { code: 'ERR_LOCK_TIMEOUT' })
    const cancelled = semaphore.acquire()
    semaphore.cancel()
    await assert.rejects(cancelled, { code: 'ERR_LOCK_CANCELED' })
    again()
    assert.equal(semaphore.getValue(), 1)
  })

  it('works as a signal: any process releases units that another takes', async () => {
    const name = freshName()
    const semaphore = open(0, name)
    const host = hosts.start()
    await host.does(openThere(0, name))
    const there = host.does('return (await my.semaphore.acquire(2))[0]')
    await waiters(semaphore, 1)
    semaphore.release()
    semaphore.release()
    assert.equal(await within(30_000, there), 2)
    assert.equal(semaphore.getValue(), 0)
    await host.does('my.semaphore.setValue(7)')
    assert.equal(semaphore.getValue(), 7)
    assert.throws(() => semaphore.release(2 ** 29 - 1), { code: 'ERR_LOCK_RANGE' })
  })

  it('tells a caller of a death, and not that of waitForUnlock() before it', async () => {
    const name = freshName()
    const semaphore = open(3, name)
    const host = hosts.start()
    await host.does(`${openThere(3, name)} await my.semaphore.acquire(3)`)
    const passing = semaphore.waitForUnlock()
    const waiting = [semaphore.acquire(), semaphore.acquire()]
    await waiters(semaphore, 1)
    await host.dies()
    await within(30_000, passing)
    const tickets = await within(30_000, Promise.all(waiting))
    assert.deepEqual(
      tickets.map(([, { abandoned }]) => abandoned),
      [true, false],
    )
    for (const [, release] of tickets) release()
  })

  it('gets back the units of a dead process, and tells the next holder', async () => {
    const name = freshName()
    const semaphore = open(3, name)
    const host = hosts.start()
    await host.does(`${openThere(3, name)} await my.semaphore.acquire(2)`)
    const waiting = semaphore.acquire(2)
    await waiters(semaphore, 1)
    await host.dies()
    const [, release] = await within(30_000, waiting)
    assert.equal(release.abandoned, true)
    assert.equal(semaphore.getValue(), 1)
    const first = release.fencingToken
    release()
    const [, next] = await semaphore.acquire(3)
    assert.equal(next.abandoned, false)
    assert.ok(next.fencingToken > first)
    next()
    const [, late] = await semaphore.acquire()
    late()
    assert.equal(late.fencingToken, undefined)
  })

  it('gets back no units that a dead process had taken as signals', async () => {
    const name = freshName()
    const semaphore = open(0, name)
    const host = hosts.start()
    semaphore.release(5)
    await host.does(`${openThere(0, name)} await my.semaphore.acquire(2)`)
    assert.equal(semaphore.getValue(), 3)
    await host.dies()
    await isForgotten(host, () => semaphore.snapshot())
    assert.equal(semaphore.getValue(), 3)
  })

  it('has one holder of its one unit, though another process released it for a holder that dies', async () => {
    const name = freshName()
    const options = { scope: 'host', name, directory: hosts.directory }
    const semaphore = new KeyedSemaphore(1, options)
    const host = hosts.start()
    await host.does(
      `my.keyed = new boxoffice.KeyedSemaphore(1, { scope: 'host', name: '${name}' }); await my.keyed.acquire('a')`,
    )
    semaphore.release('a')
    const [, release] = await semaphore.acquire('a')
    await host.dies()
    await isForgotten(host, () => semaphore.snapshot()[0])
    assert.equal(semaphore.tryAcquire('a'), undefined)
    release()
    assert.equal(semaphore.getValue('a'), 1)
    assert.equal(semaphore.size, 0)
  })

  it('must have the same initial value everywhere', () => {
    const name = freshName()
    open(3, name)
    assert.throws(() => open(4, name), {
      code: 'ERR_LOCK_MISMATCH',
      message: /semaphore .*exists with the value 3, not 4: construct it alike/,
    })
  })
})
