'use strict'
// Watched locks of scope host, including the holds of other processes.
const assert = require('node:assert/strict')
const {
  KeyedMutex,
  KeyedRWLock,
  KeyedSemaphore,
  Mutex,
  RWLock,
  Semaphore,
  snapshot,
} = require('../..')
const { freshName } = require('../helpers/agents.js')
const { useHosts } = require('../helpers/hosts.js')

for (const diagnostics of ['counters', true]) {
  describe(`Watched locks of scope host, diagnostics: ${diagnostics}`, () => {
    const hosts = useHosts()
    const optionsOf = (name) => ({ scope: 'host', name, directory: hosts.directory, diagnostics })

    it('list each long key of another process, of which they have only the beginning', async () => {
      const name = freshName()
      const keys = new KeyedMutex(optionsOf(name))
      const beginning = 'the lock of the invoices of the customer with the number '
      const host = hosts.start()
      await host.does(
        `my.keys = new boxoffice.KeyedMutex({ scope: 'host', name: '${name}' })
        for (let i = 0; i < 3; i++) await my.keys.lock('${beginning}' + i)`,
      )
      const { locks } = await snapshot()
      const reports = locks.filter((lock) => lock.name === name && lock.key !== undefined)
      assert.deepEqual(
        reports.map(({ holders }) => holders),
        Array(3).fill([{ pid: host.pid }]),
      )
      assert.equal(keys.snapshot().length, 3)
      await host.dies()
    })

    it('list the holders of keys in other processes by their pids', async () => {
      const name = freshName()
      const keys = new KeyedMutex(optionsOf(name))
      const host = hosts.start()
      await host.does(
        `my.keys = new boxoffice.KeyedMutex({ scope: 'host', name: '${name}' })
        await my.keys.lock('theirs')
        await my.keys.lock('alone')`,
      )
      const release = await keys.acquire('ours')
      const late = keys.acquire('theirs')
      const seen = new Map(keys.snapshot().map((one) => [one.key, one]))
      assert.deepEqual(seen.get('theirs').holders, [{ pid: host.pid }])
      assert.deepEqual(seen.get('alone').holders, [{ pid: host.pid }])
      await host.does(`my.keys.unlock('alone')`)
      assert.equal(seen.get('theirs').waiting, 1)
      assert.ok(seen.get('theirs').oldestWait >= 0)
      const [ours] = seen.get('ours').holders
      assert.deepEqual([ours.pid, ours.thread, ours.mode], [process.pid, 0, 'exclusive'])
      const { locks } = await snapshot()
      const reports = locks.filter((lock) => lock.name === name && lock.key !== undefined)
      assert.deepEqual(
        reports.map(({ kind, scope }) => [kind, scope]),
        [
          ['KeyedMutex', 'host'],
          ['KeyedMutex', 'host'],
        ],
      )
      assert.deepEqual(reports.find(({ key }) => key === 'theirs').holders, [{ pid: host.pid }])
      await host.dies()
      const next = await late
      assert.equal(next.abandoned, true)
      next()
      release()
      const whole = (await snapshot()).locks.find((lock) => lock.name === name)
      assert.deepEqual(whole.totals, {
        acquisitions: 2,
        contended: 1,
        timeouts: 0,
        aborts: 0,
        abandoned: 1,
        deadlocks: 0,
      })
      assert.deepEqual(keys.snapshot(), [])
    })

    it('have tokens, too, and count readers and weights', async () => {
      const lock = new RWLock(optionsOf(freshName()))
      const reader = await lock.acquireRead()
      assert.equal(typeof reader.fencingToken, 'bigint')
      const writer = await reader.upgrade()
      assert.ok(writer.fencingToken > reader.fencingToken)
      assert.deepEqual(
        lock.snapshot().holders.map(({ mode, pid }) => [mode, pid]),
        [['exclusive', process.pid]],
      )
      writer()
      const semaphore = new Semaphore(3, optionsOf(freshName()))
      const [, release] = await semaphore.acquire(2)
      assert.equal(typeof release.fencingToken, 'bigint')
      assert.equal(semaphore.snapshot().holders[0].weight, 2)
      release()
      assert.deepEqual(semaphore.snapshot().holders, [])
      assert.equal(semaphore.snapshot().totals.acquisitions, 1)
      const mutex = new Mutex(optionsOf(freshName()))
      const held = await mutex.acquire()
      assert.equal(typeof held.fencingToken, 'bigint')
      held()
      assert.equal(mutex.snapshot().totals.acquisitions, 1)
    })

    it('report a lock that another process holds', async () => {
      const name = freshName()
      const mutex = new Mutex(optionsOf(name))
      const host = hosts.start()
      await host.does(`await new boxoffice.Mutex({ scope: 'host', name: '${name}' }).lock()`)
      assert.deepEqual(mutex.snapshot().holders, [{ pid: host.pid }])
      const { locks } = await snapshot()
      assert.deepEqual(locks.find((lock) => lock.name === name).holders, [{ pid: host.pid }])
    })

    it('can be maps of semaphores and of read-write locks, too', async () => {
      const semaphores = new KeyedSemaphore(2, optionsOf(freshName()))
      const [, release] = await semaphores.acquire('k')
      assert.equal(semaphores.snapshot()[0].holders[0].weight, 1)
      release()
      const locks = new KeyedRWLock(optionsOf(freshName()))
      const read = await locks.acquireRead('k')
      assert.equal(locks.snapshot()[0].holders[0].mode, 'shared')
      read()
      assert.deepEqual(locks.snapshot(), [])
    })
  })
}
