'use strict'
// The maximum of a semaphore's value, at scopes process and host. Scope thread: test/thread/semaphore.test.js.
const assert = require('node:assert/strict')
const { subscribe, unsubscribe } = require('node:diagnostics_channel')
const { Semaphore } = require('../..')
const native = require('../../lib/addon/load.js')
const { useAgents } = require('../helpers/agents.js')
const { isPending } = require('../helpers/closable.js')
const { turn } = require('../helpers/promises.js')
const { scopes } = require('../helpers/scopes.js')

const max = 2 ** 29 - 1
const tooMany = { name: 'RangeError', code: 'ERR_LOCK_RANGE' }

for (const scope of ['process', 'host']) {
  describe(`A semaphore at the maximum of its value, in the scope ${scope}`, () => {
    const optionsOf = scopes[scope]()
    const worker = useAgents()
    const open = async (value, more) => new Semaphore(value, { ...(await optionsOf()), ...more })

    for (const more of [{}, { diagnostics: 'counters' }]) {
      it(`is unchanged by a release() that throws: ${JSON.stringify(more)}`, async () => {
        const semaphore = await open(max, more)
        const [, release] = await semaphore.acquire(3)
        const idle = semaphore.onIdle()
        const holders = () => semaphore.snapshot().holders?.map(({ weight }) => weight)
        const before = holders()
        assert.throws(() => semaphore.release(4), tooMany)
        assert.equal(semaphore.getValue(), max - 3)
        assert.deepEqual(holders(), before)
        assert.ok(await isPending(idle))
        release()
        await idle
        assert.equal(semaphore.getValue(), max)
      })

      it(`keeps a Releaser whose units have no room usable: ${JSON.stringify(more)}`, async () => {
        const semaphore = await open(5, more)
        const [, release] = await semaphore.acquire(3)
        semaphore.setValue(max - 1)
        assert.throws(release, tooMany)
        assert.equal(semaphore.getValue(), max - 1)
        const idle = semaphore.onIdle()
        assert.ok(await isPending(idle))
        semaphore.setValue(2)
        release()
        release()
        await idle
        assert.equal(semaphore.getValue(), 5)
      })
    }

    it('a release() that throws takes no units off the threads that hold them', async () => {
      const options = await optionsOf()
      const semaphore = new Semaphore(5, options)
      const holder = worker()
      await holder.does(`
        my.semaphore = new Semaphore(5, ${JSON.stringify(options)})
        await my.semaphore.acquire(3)`)
      const calls = native[scope === 'host' ? 'hostSemaphore' : 'semaphore']
      const { release } = calls
      calls.release = (...units) => {
        semaphore.setValue(max) // another thread raises the value meanwhile
        return release(...units)
      }
      try {
        assert.throws(() => semaphore.release(2), tooMany)
      } finally {
        calls.release = release
      }
      semaphore.setValue(2)
      await holder.dies()
      assert.equal(semaphore.getValue(), 5)
    })

    it('ends runExclusive(), limit() and map() with the error of their release', async () => {
      const semaphore = await open(2)
      const raise = async () => {
        semaphore.setValue(max)
        await turn()
      }
      await assert.rejects(semaphore.runExclusive(raise), tooMany)
      await assert.rejects(semaphore.limit(raise)(), tooMany)
      await assert.rejects(semaphore.map([1, 2], raise), tooMany)
    })

    it('reports a release before the grant that it causes, though subscribers use other locks', async () => {
      const [semaphore, other] = [await open(1, { diagnostics: true }), await open(1)]
      await semaphore.acquire()
      await other.acquire()
      const grants = [semaphore.acquire(), other.acquire()]
      const events = []
      const released = ({ name }) => {
        events.push(['release', name])
        other.release()
      }
      const admitted = ({ name }) => events.push(['admit', name])
      subscribe('boxoffice:release', released)
      subscribe('boxoffice:admit', admitted)
      semaphore.release()
      unsubscribe('boxoffice:release', released)
      unsubscribe('boxoffice:admit', admitted)
      const [[, name]] = events
      assert.deepEqual(events, [
        ['release', name],
        ['admit', name],
      ])
      for (const [, release] of await Promise.all(grants)) release()
      await Promise.all([semaphore.close(), other.close()])
    })
  })
}
