'use strict'
// close() and onIdle() of locks of scope host: what this process has given back, others can take.
const assert = require('node:assert/strict')
const { freshName } = require('../helpers/agents.js')
const { closables, isPending } = require('../helpers/closable.js')
const { useHosts } = require('../helpers/hosts.js')

const closed = { code: 'ERR_LOCK_CLOSED' }

describe('Locks of scope host that close', function () {
  // Processes are started, and one whose turn it is may not get to run for a while.
  this.timeout(120_000)
  const hosts = useHosts()
  const optionsOf = (name) => ({
    scope: 'host',
    name,
    directory: hosts.directory,
    allowBlockingMainThread: true,
  })

  for (const [name, make] of Object.entries(closables)) {
    it(`refuse callers, and resolve when the last one has let go: ${name}`, async () => {
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

  it('are given to a process that waits, whose objects stay open', async () => {
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
