'use strict'
// close() and onIdle() of locks of scope host: other processes can take what this process has
// released.
const assert = require('node:assert/strict')
const { freshName } = require('../helpers/agents.js')
const { closables, isPending } = require('../helpers/closable.js')
const { useHosts } = require('../helpers/hosts.js')
const { entry, runCode } = require('../helpers/processes.js')

const closed = { code: 'ERR_LOCK_CLOSED' }

describe('Locks of scope host that close', function () {
  // The tests start processes, and on a busy machine a process may not run for a while.
  this.timeout(120_000)
  const hosts = useHosts()
  const optionsOf = (name) => ({
    scope: 'host',
    name,
    directory: hosts.directory,
    allowBlockingMainThread: true,
  })

  for (const [name, make] of Object.entries(closables)) {
    it(`refuse new callers, and resolve after the last release: ${name}`, async () => {
      const options = optionsOf(freshName())
      const made = make(options)
      const { lock, hold, wait = hold } = made
      await lock.onIdle()
      const release = await hold()
      const waiting = wait()
      const closing = lock.close()
      for (const wait of Object.values(made.waits)) await assert.rejects(wait(), closed)
      for (const block of Object.values(made.blocks)) assert.throws(block, closed)
      await release()
      const next = await waiting
      assert.ok(await isPending(closing))
      await next()
      await closing
      const other = make(options)
      await (await other.hold())()
      await other.lock.close()
    })
  }

  /** With a maxHold, by class: a constructor and a hold. */
  const timed = {
    Mutex: [(options) => `Mutex(${options})`, 'lock.acquire()'],
    KeyedMutex: [(options) => `KeyedMutex(${options})`, `lock.acquire('a')`],
    Semaphore: [(options) => `Semaphore(1, ${options})`, 'lock.acquire()'],
    KeyedSemaphore: [(options) => `KeyedSemaphore(1, ${options})`, `lock.acquire('a')`],
    RWLock: [(options) => `RWLock(${options})`, 'lock.acquireRead()'],
    KeyedRWLock: [(options) => `KeyedRWLock(${options})`, `lock.acquireWrite('a')`],
  }
  for (const [name, [make, hold]] of Object.entries(timed)) {
    it(`keep their process alive until a maxHold has ended the last hold: ${name}`, async () => {
      const options = JSON.stringify({
        scope: 'host',
        name: freshName(),
        directory: hosts.directory,
        maxHold: 200,
      })
      const { shown, code } = await runCode(
        `const boxoffice = require(${JSON.stringify(entry)})
        const lock = new boxoffice.${make(options)}
        ${hold}.then(() => lock.close()).then(() => show('closed'))`,
      )
      assert.deepEqual([shown, code], [['closed'], 0])
    })
  }

  it('are given to a waiting process, whose objects stay open', async () => {
    const name = freshName()
    const options = JSON.stringify({ scope: 'host', name })
    const host = hosts.start()
    const { lock, hold } = closables.KeyedMutex(optionsOf(name))
    const release = await hold()
    await host.does(`
      my.locks = new boxoffice.KeyedMutex(${options})
      my.waiting = my.locks.acquire('a')`)
    const closing = lock.close()
    release()
    await closing
    const abandoned = await host.does(`
      my.release = await my.waiting
      return my.release.abandoned`)
    assert.equal(abandoned, false)
    assert.equal(lock.isLocked('a'), true)
    await lock.onIdle()
    assert.equal(await host.does('my.release(); return my.locks.size'), 0)
  })

  it('do not wait for a caller that waits for another process and does not want the lock', async () => {
    const name = freshName()
    const host = hosts.start()
    await host.does(`
      my.mutex = new boxoffice.Mutex(${JSON.stringify({ scope: 'host', name })})
      my.release = await my.mutex.acquire()`)
    const { lock } = closables.Mutex(optionsOf(name))
    const waiting = lock.acquire({ timeout: 20 })
    const passed = lock.waitForUnlock()
    const idle = lock.onIdle()
    await assert.rejects(waiting, { code: 'ERR_LOCK_TIMEOUT' })
    await idle
    await lock.onIdle()
    await host.does('my.release()')
    await passed
  })

  it('wait for a lock that another process holds, if a caller waited before', async () => {
    const name = freshName()
    const options = JSON.stringify({ scope: 'host', name })
    const host = hosts.start()
    await host.does(`
      my.mutex = new boxoffice.Mutex(${options})
      my.release = await my.mutex.acquire()`)
    const { lock, hold } = closables.Mutex(optionsOf(name))
    const [served, late] = [hold(), lock.acquire({ timeout: 5 })]
    const closing = lock.close()
    await assert.rejects(late, { code: 'ERR_LOCK_TIMEOUT' })
    assert.ok(await isPending(closing))
    await host.does('my.release()')
    const release = await served
    assert.ok(await isPending(closing))
    release()
    await closing
    assert.equal(await host.does('return my.mutex.isLocked()'), false)
  })
})
