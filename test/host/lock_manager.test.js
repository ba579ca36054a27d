'use strict'
const assert = require('node:assert/strict')
const { Lock, LockManager } = require('../..')
const { useHosts } = require('../helpers/hosts.js')
const { freshName, within } = require('../helpers/agents.js')

const turn = () => new Promise(setImmediate)

describe('A LockManager of scope host', function () {
  // The tests start processes, and on a busy machine a process may not run for a while.
  this.timeout(120_000)
  const hosts = useHosts()
  const open = (name) => new LockManager({ scope: 'host', name, directory: hosts.directory })
  const openThere = (name) =>
    `my.locks = new boxoffice.LockManager({ scope: 'host', name: ${JSON.stringify(name)} });`
  const pending = async (locks) => {
    while ((await locks.query()).pending.length === 0) await turn()
  }

  it('is one for all processes, name by name', async () => {
    const name = freshName()
    const locks = open(name)
    const host = hosts.start()
    let finish
    const mine = locks.request('a', (lock) => {
      assert.ok(lock instanceof Lock)
      assert.deepEqual([lock.name, lock.mode], ['a', 'exclusive'])
      return new Promise((resolve) => {
        finish = resolve
      })
    })
    await turn()
    assert.deepEqual(
      await host.does(`${openThere(name)}
        return [
          await my.locks.request('a', { ifAvailable: true }, (lock) => lock),
          await my.locks.request('b', { ifAvailable: true }, (lock) => lock.name),
          await my.locks.query(),
        ]`),
      [
        null,
        'b',
        { held: [{ name: 'a', mode: 'exclusive', clientId: `node-${process.pid}` }], pending: [] },
      ],
    )
    const there = host.does(`return my.locks.request('a', () => 'mine now')`)
    await pending(locks)
    assert.deepEqual((await locks.query()).pending, [{ name: 'a', clientId: `node-${host.pid}` }])
    finish('done')
    assert.equal(await mine, 'done')
    assert.equal(await within(30_000, there), 'mine now')
    assert.deepEqual(await locks.query(), { held: [], pending: [] })
  })

  it('shares locks requested as shared, and supports aborts and timeouts', async () => {
    const name = freshName()
    const locks = open(name)
    const host = hosts.start()
    const held = await locks.acquire('a', { mode: 'shared' })
    assert.deepEqual(
      await host.does(`${openThere(name)}
        my.held = await my.locks.acquire('a', { mode: 'shared' })
        return (await my.locks.query()).held.map(({ mode }) => mode)`),
      ['shared', 'shared'],
    )
    await assert.rejects(
      locks.request('a', { timeout: 5 }, () => {}),
      { code: 'ERR_LOCK_TIMEOUT' },
    )
    const controller = new AbortController()
    const aborted = locks.request('a', { signal: controller.signal }, () => assert.fail())
    controller.abort()
    await assert.rejects(aborted, { name: 'AbortError' })
    held.release()
    await host.does('my.held.release()')
    await assert.rejects(
      locks.request('a', () => {
        throw new Error('within')
      }),
      /within/,
    )
    assert.deepEqual(await locks.query(), { held: [], pending: [] })
  })

  it('calls no callback after an abort, however late the abort comes', async () => {
    const locks = open(freshName())
    for (let turns = 0; turns < 12; turns++) {
      const controller = new AbortController()
      const { signal } = controller
      const late = locks.request('a', { signal }, () => assert.equal(signal.aborted, false))
      for (let turn = 0; turn < turns; turn++) await undefined
      controller.abort(new Error('too late'))
      await late.catch((error) => assert.equal(error, signal.reason))
      assert.deepEqual(await locks.query(), { held: [], pending: [] })
    }
  })

  it('releases the lock if the signal throws before the callback is called', async () => {
    const locks = open(freshName())
    const odd = new Error('odd')
    // The first reads are those of the wait.
    for (let reads = 0; reads < 6; reads++) {
      let left = reads
      const signal = {
        get aborted() {
          if (left-- === 0) throw odd
          return false
        },
        addEventListener() {},
        removeEventListener() {},
      }
      await locks.request('a', { signal }, () => {}).catch((error) => assert.equal(error, odd))
      assert.deepEqual(await locks.query(), { held: [], pending: [] })
    }
  })

  it('goes on when the process that holds a lock dies', async () => {
    const name = freshName()
    const locks = open(name)
    const host = hosts.start()
    await host.does(`${openThere(name)} my.held = await my.locks.acquire('leader')`)
    const next = locks.acquire('leader')
    await pending(locks)
    await host.dies()
    const held = await within(30_000, next)
    assert.equal(held.abandoned, true)
    assert.equal(typeof held.fencingToken, 'bigint')
    held()
  })

  it('refuses unsupported requests', async () => {
    const locks = open(freshName())
    await assert.rejects(
      locks.request('-a', () => {}),
      { name: 'NotSupportedError' },
    )
    let isCalled = false
    const call = () => {
      isCalled = true
    }
    const stolen = { name: 'NotSupportedError', message: /'host' cannot be stolen/ }
    await assert.rejects(locks.request('a', { steal: true }, call), stolen)
    const held = await locks.acquire('a')
    await assert.rejects(locks.acquire('a', { steal: true }), stolen)
    assert.equal(isCalled, false)
    assert.equal(held.signal.aborted, false)
    assert.equal(await locks.acquire('a', { ifAvailable: true }), undefined, 'still held')
    assert.equal(held.downgrade, undefined)
    const late = { message: /^the lock of key "a" in .* was not available within 0 ms/ }
    await assert.rejects(locks.acquire('a', { timeout: 0, mode: 'shared' }), late)
    held()
    assert.throws(() => new LockManager({ scope: 'host' }), TypeError)
    assert.throws(() => new LockManager({ name: 'mine' }), TypeError)
    assert.throws(() => new LockManager({ scope: 'world' }), TypeError)
  })
})
