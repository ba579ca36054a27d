'use strict'
// Snapshots name this process while its callers wait, whichever process holds the lock.
const assert = require('node:assert/strict')
const { KeyedMutex, KeyedRWLock, LockManager, Mutex, RWLock, Semaphore } = require('../..')
const { freshName } = require('../helpers/agents.js')
const { turn } = require('../helpers/promises.js')
const { scopes } = require('../helpers/scopes.js')

/** By class: a constructor, and the promise of a Releaser. */
const kinds = {
  Mutex: [(options) => new Mutex(options), (lock) => lock.acquire()],
  RWLock: [(options) => new RWLock(options), (lock) => lock.acquireWrite()],
  Semaphore: [
    (options) => new Semaphore(1, options),
    async (lock) => (await lock.acquire()).release,
  ],
  KeyedMutex: [(options) => new KeyedMutex(options), (lock) => lock.acquire('a')],
  KeyedRWLock: [(options) => new KeyedRWLock(options), (lock) => lock.acquireWrite('a')],
}

describe('Snapshots at scope host, while callers of the holding process wait', () => {
  const optionsOf = scopes.host()
  const pids = (lock) => {
    const [{ waiting, holderPids, waiterPids }] = [lock.snapshot()].flat()
    return { waiting, holderPids, waiterPids }
  }

  for (const [name, [make, acquire]] of Object.entries(kinds)) {
    it(`name that process among the waiters: ${name}`, async () => {
      const lock = make(await optionsOf())
      const release = await acquire(lock)
      assert.deepEqual(pids(lock), { waiting: 0, holderPids: [process.pid], waiterPids: [] })
      const waiting = [acquire(lock), acquire(lock)]
      await turn()
      const { pid } = process
      assert.deepEqual(pids(lock), { waiting: 2, holderPids: [pid], waiterPids: [pid] })
      release()
      for (const one of waiting) (await one)()
    })
  }

  it('name it in query() of a LockManager', async () => {
    const locks = new LockManager({ ...(await optionsOf()), name: freshName() })
    let end
    const held = locks.request('q', () => new Promise((resolve) => (end = resolve)))
    while ((await locks.query()).held.length === 0) await turn()
    const waiting = locks.request('q', () => {})
    await turn()
    const clientId = `node-${process.pid}`
    assert.deepEqual(await locks.query(), {
      held: [{ name: 'q', mode: 'exclusive', clientId }],
      pending: [{ name: 'q', clientId }],
    })
    end()
    await Promise.all([held, waiting])
    assert.deepEqual(await locks.query(), { held: [], pending: [] })
  })
})
