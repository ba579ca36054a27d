'use strict'
// The diagnostics of semaphores and read-write locks: blocking threads, and grants that no caller
// has seen.
const assert = require('node:assert/strict')
const { KeyedRWLock, RWLock, Semaphore } = require('../..')
const { freshName, sleep, useAgents } = require('../helpers/agents.js')
const { totals } = require('../helpers/totals.js')

for (const diagnostics of ['counters', true]) {
  describe(`Threads that block, with diagnostics: ${diagnostics}`, () => {
    const agent = useAgents()
    const optionsOf = (name) => `{ name: '${name}', diagnostics: ${JSON.stringify(diagnostics)} }`

    it('are counted by a semaphore: granted at once, timed out, and after a wait', async () => {
      const name = freshName()
      const semaphore = new Semaphore(2, { name, diagnostics })
      const worker = agent()
      const atOnce = await worker.does(`my.semaphore = new Semaphore(2, ${optionsOf(name)})
        const [value, release] = my.semaphore.acquireSync(2)
        const { holders } = my.semaphore.snapshot()
        release()
        return { value, weights: holders.map(({ weight }) => weight), totals: my.semaphore.snapshot().totals }`)
      assert.deepEqual(atOnce, { value: 2, weights: [2], totals: totals({ acquisitions: 1 }) })
      const [, release] = await semaphore.acquire(2)
      const late = await worker.does(`
        const code = await codeOf(() => my.semaphore.acquireSync({ timeout: 5 }))
        return { code, totals: my.semaphore.snapshot().totals }`)
      assert.equal(late.code, 'ERR_LOCK_TIMEOUT')
      assert.deepEqual(late.totals, totals({ acquisitions: 1, timeouts: 1 }))
      const { done } = await worker.begins(`say('now')
        const [, release] = my.semaphore.acquireSync()
        release()
        return my.semaphore.snapshot()`)
      while (semaphore.snapshot().waiting === 0) await sleep(1)
      release()
      const seen = await done
      assert.deepEqual(seen.holders, [])
      assert.deepEqual(seen.totals, totals({ acquisitions: 2, contended: 1, timeouts: 1 }))
    })

    it('are counted by a read-write lock, upgrades included', async () => {
      const name = freshName()
      const lock = new RWLock({ name, diagnostics })
      const worker = agent()
      const seen = `({ modes: my.lock.snapshot().holders.map(({ mode }) => mode), totals: my.lock.snapshot().totals })`
      const atOnce = await worker.does(`my.lock = new boxoffice.RWLock(${optionsOf(name)})
        my.reader = my.lock.acquireReadSync()
        my.writer = my.reader.upgradeSync()
        return ${seen}`)
      const expected = totals({ acquisitions: 2 })
      assert.deepEqual(atOnce, { modes: ['exclusive'], totals: expected })
      await worker.does('my.reader = my.writer.downgrade()')
      const ours = await lock.acquireRead()
      const late = await worker.does(`
        my.code = await codeOf(() => my.reader.upgradeSync({ timeout: 5 }))
        return { code: my.code, ...${seen} }`)
      Object.assign(expected, { acquisitions: 3, timeouts: 1 })
      assert.deepEqual(late, { code: 'ERR_LOCK_TIMEOUT', modes: ['shared'], totals: expected })
      const { done } = await worker.begins(`say('now')
        my.writer = my.reader.upgradeSync()
        return ${seen}`)
      while (lock.snapshot().waiting === 0) await sleep(1)
      ours()
      Object.assign(expected, { acquisitions: 4, contended: 1 })
      assert.deepEqual(await done, { modes: ['exclusive'], totals: expected })
    })

    it("do not count a failed upgrade's wait towards later waits", async () => {
      const name = freshName()
      const lock = new RWLock({ name, diagnostics })
      const ours = await lock.acquireRead()
      const worker = agent()
      await worker.does(`my.lock = new boxoffice.RWLock(${optionsOf(name)})
        my.reader = my.lock.acquireReadSync()
        await codeOf(() => my.reader.upgradeSync({ timeout: 5 }))`)
      ours()
      const seen = await worker.does(`my.reader.upgradeSync()()
        return my.lock.snapshot().totals`)
      assert.deepEqual(seen, totals({ acquisitions: 2, timeouts: 1 }))
    })

    for (const mode of ['Read', 'Write']) {
      it(`give the report of a ${mode.toLowerCase()} of several keys to the next caller`, async () => {
        const name = freshName()
        const locks = new KeyedRWLock({ name, diagnostics })
        const [dying, living] = [agent(), agent()]
        const take = (key) =>
          `my.release = await new boxoffice.KeyedRWLock({ name: '${name}' }).acquireWrite('${key}')`
        await living.does(take('b'))
        await dying.does(take('a'))
        await dying.dies()
        await assert.rejects(locks[`acquire${mode}`](['a', 'b'], { timeout: 20 }), {
          code: 'ERR_LOCK_TIMEOUT',
        })
        assert.equal(locks.snapshot().find(({ key }) => key === 'a')?.holders.length ?? 0, 0)
        const release = await locks.acquireWrite('a')
        assert.equal(release.abandoned, true)
        const [a] = locks.snapshot()
        assert.deepEqual(
          a.holders.map(({ mode }) => mode),
          ['exclusive'],
        )
        release()
        await living.does('my.release()')
      })
    }
  })
}
