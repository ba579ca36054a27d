'use strict'
// A wait for a condition has no releaser that could tell of a death: the next grant of the mutex does.
const assert = require('node:assert/strict')
const { ConditionVariable, Mutex } = require('../..')
const { freshName, useAgents, within } = require('../helpers/agents.js')

const notifies = 'my.condition.notifyOne()'
const soon = (promise) => within(8000, promise)

describe('a thread that dies while it holds the mutex of a condition', () => {
  const agent = useAgents()
  let name
  let mutex
  let condition
  beforeEach(() => {
    name = freshName()
    mutex = new Mutex({ name })
    condition = new ConditionVariable({ name })
  })

  /** A thread that has opened both. */
  const another = async () => {
    const thread = agent(name)
    await thread.does(`
      my.mutex = new Mutex({ name: workerData })
      my.condition = new ConditionVariable({ name: workerData })`)
    return thread
  }
  /** The holder of the mutex waits for the condition, and gets the mutex back by the death of the next holder. */
  const waitFor = async (wait, next) => {
    const other = await another()
    const holds = other.does(`await my.mutex.lock(); ${next}`)
    while (mutex.snapshot().waiting === 0) await new Promise(setImmediate)
    const waiting = wait()
    await holds
    await other.dies()
    await soon(waiting)
  }
  const isTold = async () => {
    const release = await soon(mutex.acquire())
    release()
    return release.abandoned
  }

  it('is reported by the first grant after a notified waiter', async () => {
    await mutex.lock()
    await waitFor(() => condition.wait(mutex), notifies)
    mutex.unlock()
    assert.equal(await isTold(), true)
    assert.equal(await isTold(), false)
  })

  it('is reported by the grant of a waiter of the same thread', async () => {
    await mutex.lock()
    await waitFor(() => condition.wait(mutex), notifies)
    const told = isTold()
    mutex.unlock()
    assert.equal(await told, true)
    assert.equal(await isTold(), false)
  })

  it('is reported in another thread while the waiter waits again', async () => {
    await mutex.lock()
    await waitFor(() => condition.wait(mutex), notifies)
    const again = condition.wait(mutex)
    const other = await another()
    const isToldThere = `
      const release = await my.mutex.acquire()
      my.condition.notifyOne()
      release()
      return release.abandoned`
    assert.equal(await other.does(isToldThere), true)
    await soon(again)
    mutex.unlock()
    assert.equal(await isTold(), false)
  })

  it('is reported by the first grant after a waiter that has timed out', async () => {
    await mutex.lock()
    const wait = () => condition.wait(mutex, { timeout: 1 })
    await waitFor(() => assert.rejects(wait, { code: 'ERR_LOCK_TIMEOUT' }), '')
    mutex.unlock()
    assert.equal(await isTold(), true)
    assert.equal(await isTold(), false)
  })

  for (const [kind, options, next] of [
    ['a notified waiter', '{}', notifies],
    ['a waiter that has timed out', '{ timeout: 1 }', ''],
  ]) {
    it(`is reported by the first grant after ${kind} that blocked its thread, twice`, async () => {
      const waiter = await another()
      await waiter.does('my.mutex.lockSync()')
      const code = `
        await codeOf(() => my.condition.waitSync(my.mutex, ${options}))
        await codeOf(() => my.condition.waitSync(my.mutex, { timeout: 1 }))
        my.mutex.unlock()`
      await waitFor(() => waiter.does(code), next)
      assert.equal(await isTold(), true)
      assert.equal(await isTold(), false)
    })
  }
})
