'use strict'
// Threads that block for a read-write lock: a call that would wait for its own thread throws, and
// no other does.
const assert = require('node:assert/strict')
const { RWLock } = require('../..')
const { freshName, sleep, useAgents } = require('../helpers/agents.js')
const { outcome } = require('../helpers/keyed.js')
const { scaled } = require('../helpers/scale.js')

/** Longer than a waiter may be overtaken: from then on the lock is handed to the head of the queue. */
const patience = 20
const head = 'const lock = (my.lock ??= new boxoffice.RWLock(workerData));'
const modes = ['Read', 'Write']

const ways = {
  'by its name': () => ({ name: freshName() }),
  'by memory': () => ({ buffer: new RWLock({ shared: true }).buffer }),
  'somewhere in memory': () => ({ buffer: new SharedArrayBuffer(64), byteOffset: 20 }),
}

for (const [way, at] of Object.entries(ways)) {
  describe(`RWLock, blocking threads, ${way}`, () => {
    const agent = useAgents()
    let where
    let lock
    let worker
    beforeEach(() => {
      where = at()
      lock = new RWLock(where)
      worker = agent(where)
    })
    const does = (code) => worker.does(head + code)

    it('a call that would wait for its own thread throws', async () => {
      const twice = `const codes = []
        for (const first of ['Read', 'Write']) for (const second of ['Read', 'Write']) {
          const release = lock['acquire' + first + 'Sync']()
          codes.push(await codeOf(() => lock['acquire' + second + 'Sync']({ timeout: 5 })()))
          release()
        }
        return codes`
      const code = 'ERR_LOCK_DEADLOCK'
      assert.deepEqual(await does(twice), [undefined, code, code, code])
      assert.equal(lock.isLocked(), false)
      // The thread reads, and a writer waits for that.
      await does('my.reader = lock.acquireReadSync()')
      const writer = lock.acquireWrite()
      assert.equal(await does('return codeOf(() => lock.acquireReadSync())'), code)
      await does('my.reader()')
      ;(await writer)()
      // A promise of the thread waits.
      for (const first of modes) {
        for (const second of modes) {
          const held = await lock.acquireWrite()
          const ahead = `my.wait = lock.acquire${first}()
            return codeOf(() => lock.acquire${second}Sync({ timeout: 5 }))`
          assert.equal(await does(ahead), code)
          held()
          await does('(await my.wait)()')
        }
      }
      // Two readers of the thread, one of which upgrades.
      const own = 'const [one, two] = [lock.acquireReadSync(), lock.acquireReadSync()]'
      assert.equal(await does(`${own}; return codeOf(() => one.upgradeSync())`), code)
    })

    it('so does a call whose thread has a grant that it has not read yet', async () => {
      for (const [asked, then] of [
        ['Read', 'Write'],
        ['Write', 'Read'],
        ['Write', 'Write'],
      ]) {
        const flag = new Int32Array(new SharedArrayBuffer(4))
        const other = agent({ where, flag })
        const held = await lock.acquireWrite()
        const { done } = await other.begins(`const { flag, where } = workerData
          const lock = new boxoffice.RWLock(where)
          my.wait = lock.acquire${asked}()
          say(1)
          Atomics.wait(flag, 0, 0)
          return codeOf(() => lock.acquire${then}Sync({ timeout: 8000 }))`)
        await sleep(patience)
        held()
        assert.deepEqual(
          [lock.readers > 0, lock.isWriteLocked()],
          [asked === 'Read', asked === 'Write'],
        )
        Atomics.store(flag, 0, 1)
        Atomics.notify(flag, 0)
        assert.equal(await done, 'ERR_LOCK_DEADLOCK')
        await other.does('(await my.wait)()')
        assert.equal(lock.isLocked(), false)
      }
    })

    it('upgradeSync does not wait for a read that a promise of its thread may have been granted', async () => {
      const flag = new Int32Array(new SharedArrayBuffer(4))
      const other = agent({ where, flag })
      const controller = new AbortController()
      await other.does(
        'my.lock = new boxoffice.RWLock(workerData.where); my.one = my.lock.acquireReadSync()',
      )
      const writer = outcome(lock.acquireWrite({ signal: controller.signal }))
      const { done } = await other.begins(`my.wait = my.lock.acquireRead()
        say(1)
        Atomics.wait(workerData.flag, 0, 0)
        return codeOf(() => my.one.upgradeSync({ timeout: 8000 }))`)
      controller.abort('gone')
      assert.equal(lock.readers, 2)
      Atomics.store(flag, 0, 1)
      Atomics.notify(flag, 0)
      assert.equal(await done, 'ERR_LOCK_DEADLOCK')
      assert.equal(writer.reason, 'gone')
      await other.does('(await my.wait)(); my.one.upgradeSync()()')
      assert.equal(lock.isLocked(), false)
    })

    it('reading twice is no deadlock while invited readers are on their way', async () => {
      // Invited, and not there yet: this thread does not return to its event loop. A busy machine needs more tries.
      let seen
      while (seen === undefined) {
        const flag = new Int32Array(new SharedArrayBuffer(8))
        const other = agent({ where, flag })
        const { done } = await other.begins(`const { flag, where } = workerData
          const lock = new boxoffice.RWLock(where)
          const writer = lock.acquireWriteSync()
          say(1)
          while (Atomics.load(flag, 0) === 0);
          writer()
          // Ahead of the invited reader, whose patience may be over.
          const first = lock.tryAcquireRead()
          const readers = lock.readers
          const code = first && await codeOf(() => lock.acquireReadSync()())
          first?.()
          Atomics.store(flag, 1, 1)
          Atomics.notify(flag, 1)
          return { isFirst: first !== undefined && readers === 1, code }`)
        const waiting = lock.acquireRead()
        Atomics.store(flag, 0, 1)
        Atomics.wait(flag, 1, 0)
        ;(await waiting)()
        const { isFirst, code } = await done
        if (isFirst) seen = code ?? 'in'
        await other.dies()
      }
      assert.equal(seen, 'in')
    })

    it('vm can interrupt it: readers keep reading, and no waiter is admitted', async () => {
      const reader = await lock.acquireRead()
      await does('my.reader = lock.acquireReadSync()')
      const late = (code) => `return codeOf(() => vm.runInNewContext(${code}, my, { timeout: 40 }))`
      assert.equal(await does(late('"reader.upgradeSync()"')), 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      assert.equal(lock.readers, 2)
      await does('my.reader()')
      assert.equal(await does(late('"lock.acquireWriteSync()"')), 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      assert.equal(lock.readers, 1)
      const writer = await reader.upgrade()
      assert.equal(await does(late('"lock.acquireReadSync()"')), 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      writer()
      assert.equal(await does('lock.acquireWriteSync()(); return lock.isLocked()'), false)
    })

    it('a tryUpgrade that fails keeps no reader out meanwhile', async () => {
      const reader = await lock.acquireRead()
      const flag = new Int32Array(new SharedArrayBuffer(4))
      const other = agent({ where, flag })
      const { done } = await other.begins(`const { flag, where } = workerData
        const reader = new boxoffice.RWLock(where).acquireReadSync()
        say(1)
        while (Atomics.load(flag, 0) === 0) {
          if (reader.tryUpgrade() !== undefined) return 'upgraded'
          if (await codeOf(() => reader.upgrade({ timeout: 0 })) !== 'ERR_LOCK_TIMEOUT') return 'upgraded'
        }
        reader()`)
      let kept = 0
      for (let i = scaled(200_000, 1000); i > 0; i--) {
        const again = lock.tryAcquireRead()
        if (again === undefined) kept++
        else again()
      }
      Atomics.store(flag, 0, 1)
      assert.equal(await done, undefined)
      assert.equal(kept, 0)
      reader()
    })
  })
}
