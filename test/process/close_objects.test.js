'use strict'
// close() and onIdle() where several objects of one thread stand for one lock: they wait for the callers of all of
// them.
const assert = require('node:assert/strict')
const { KeyedRWLock, KeyedSemaphore, RWLock, Semaphore } = require('../..')
const { freshName } = require('../helpers/agents.js')
const { isPending } = require('../helpers/closable.js')
const { useHosts } = require('../helpers/hosts.js')

/** By class: a constructor, and a hold. */
const kinds = {
  Semaphore: [(options) => new Semaphore(2, options), async (lock) => (await lock.acquire(2))[1]],
  'RWLock, held by a reader': [(options) => new RWLock(options), (lock) => lock.acquireRead()],
  'RWLock, held by a writer': [(options) => new RWLock(options), (lock) => lock.acquireWrite()],
  KeyedSemaphore: [
    (options) => new KeyedSemaphore(2, options),
    async (lock) => (await lock.acquire('a', 2))[1],
  ],
  'KeyedRWLock, held by a reader': [
    (options) => new KeyedRWLock(options),
    (lock) => lock.acquireRead('a'),
  ],
  'KeyedRWLock, held by a writer': [
    (options) => new KeyedRWLock(options),
    (lock) => lock.acquireWrite('a'),
  ],
}

/** Options of a second object, which may give it a key map of its own. */
const others = [{}, { allowBlockingMainThread: true }]

describe('Several objects of one lock in a thread', function () {
  this.timeout(10_000)
  const hosts = useHosts()
  const scopes = {
    process: () => ({ name: freshName() }),
    host: () => ({ scope: 'host', name: freshName(), directory: hosts.directory }),
  }

  for (const [scope, optionsOf] of Object.entries(scopes)) {
    for (const other of others) {
      const pair = (make) => {
        const options = optionsOf()
        return [make(options), make({ ...options, ...other })]
      }
      const where = `scope ${scope}, ${JSON.stringify(other)}`

      for (const [name, [make, hold]] of Object.entries(kinds)) {
        it(`close when no caller holds it through any of them: ${name}, ${where}`, async () => {
          const [one, two] = pair(make)
          await (await hold(one))() // a key stays for a while with the map that has used it
          const release = await hold(two)
          const waiting = hold(one)
          const closing = [one.close(), two.onIdle()]
          for (const promise of closing) assert.ok(await isPending(promise))
          release()
          const next = await waiting
          for (const promise of closing) assert.ok(await isPending(promise))
          next()
          await Promise.all(closing)
          await Promise.all([one.onIdle(), two.close()])
        })
      }

      it(`count units that another object puts back: Semaphore, ${where}`, async () => {
        const [one, two] = pair(kinds.Semaphore[0])
        await two.acquire()
        const idle = [one.onIdle(), two.onIdle()]
        one.release()
        await Promise.all(idle)
        await two.close()
      })

      it(`count units that another object puts back: KeyedSemaphore, ${where}`, async () => {
        const [one, two] = pair(kinds.KeyedSemaphore[0])
        const [, release] = await two.acquire('a')
        const idle = [one.onIdle(), two.onIdle()]
        one.release('a')
        await Promise.all(idle)
        release()
        assert.equal(two.getValue('a'), 2)
        assert.deepEqual([one.size, two.size], [0, 0])
      })
    }
  }

  it('close when no key is busy through an object that was constructed meanwhile', async () => {
    const name = freshName()
    const one = new KeyedRWLock({ name })
    const release = await one.acquireWrite('a')
    const idle = one.onIdle()
    const two = new KeyedRWLock({ name, allowBlockingMainThread: true })
    const releaseOther = await two.acquireWrite('b')
    release()
    assert.ok(await isPending(idle))
    releaseOther()
    await idle
  })

  it('free the slot of a key that both have used, at scope host', async () => {
    const { name, directory } = { name: freshName(), directory: hosts.directory }
    const options = { scope: 'host', name, directory, capacity: 1 }
    const one = new KeyedSemaphore(2, options)
    const two = new KeyedSemaphore(2, { ...options, allowBlockingMainThread: true })
    for (let i = 0; i < 1000; i++) {
      const [first, second] = i % 2 === 0 ? [one, two] : [two, one]
      const [, release] = await first.acquire(i)
      await second.acquire(i)
      first.release(i)
      release()
    }
    await Promise.all([one.close(), two.close()])
    assert.equal(one.size, 0)
  })
})
