'use strict'
// Deadlocks across threads: of blocked threads, and of promises.
const assert = require('node:assert/strict')
const { Mutex } = require('../..')
const { freshName, useAgents, within } = require('../helpers/agents.js')

const diagnostics = true

const ended = (promise) => within(20_000, promise)

/** Until a waiter is queued: a blocked thread cannot report that itself. */
async function hasWaiters(lock) {
  while (lock.snapshot().waiting === 0) await new Promise(setImmediate)
}

const codeOf = (promise) =>
  promise.then(
    () => 'fine',
    ({ code }) => code,
  )

describe('Deadlocks of threads', function () {
  this.timeout(60_000)
  const startAgent = useAgents()
  let names
  beforeEach(() => {
    names = [freshName(), freshName()]
  })
  const locks = () => names.map((name) => new Mutex({ name, diagnostics }))

  /** Waits for `b` inside `a`, while `agent`, which holds the second of its locks, blocks in a wait for the first. */
  async function closeCycle(agent, a, b) {
    let blocked
    const closing = async () => {
      blocked = await agent.begins(`say('now')
        my.locks[0].lockSync(); my.locks[0].unlock(); my.locks[1].unlock()`)
      await hasWaiters(a)
      await b.acquire()
    }
    const error = await ended(a.runExclusive(closing).catch((reason) => reason))
    await ended(blocked.done)
    return error
  }
  const takeLocks = `my.locks = workerData.map((name) => new Mutex({ name, diagnostics: true }));`

  it('are found among five philosophers that block', async () => {
    const forks = Array.from({ length: 5 }, freshName)
    const agents = forks.map(() => startAgent(forks))
    await Promise.all(
      agents.map((agent, i) => agent.does(`${takeLocks} my.locks[${i}].lockSync()`)),
    )
    const dine = (i) => `
      const code = await codeOf(() => { my.locks[${(i + 1) % 5}].lockSync(); my.locks[${(i + 1) % 5}].unlock() })
      my.locks[${i}].unlock()
      return code`
    const codes = await ended(Promise.all(agents.map((agent, i) => agent.does(dine(i)))))
    assert.deepEqual(
      codes.filter((code) => code !== undefined),
      ['ERR_LOCK_DEADLOCK'],
    )
  })

  it('name locks without a name alike in each thread, which has a constructor of its own', async () => {
    const [a, b] = [0, 1].map(() => new Mutex({ shared: true, diagnostics }))
    const agent = startAgent([a.buffer, b.buffer])
    await agent.does(`
      my.locks = workerData.map((buffer) => new Mutex({ buffer, diagnostics: true }))
      my.locks[1].lockSync()`)
    const { message } = await closeCycle(agent, a, b)
    const titles = message.match(/(?:waits for|it holds) the mutex.*/g)
    assert.deepEqual(titles.toSorted(), [
      ...Array(2).fill('it holds the mutex, acquired'),
      ...Array(2).fill('waits for the mutex'),
    ])
  })

  it('are found when a promise closes the cycle', async () => {
    const [a, b] = locks()
    const agent = startAgent(names)
    await agent.does(`${takeLocks} my.locks[1].lockSync()`)
    const error = await closeCycle(agent, a, b)
    assert.equal(error.code, 'ERR_LOCK_DEADLOCK')
    assert.deepEqual(
      error.cycle.map(({ thread, waitsFor }) => [thread, waitsFor.name]),
      [
        [0, names[1]],
        [agent.worker.threadId, names[0]],
      ],
    )
  })

  it('are found when a blocking call closes the cycle', async () => {
    const [a, b] = locks()
    const agent = startAgent(names)
    await agent.does(`${takeLocks} my.locks[1].lockSync()`)
    const inside = a.runExclusive(() => b.runExclusive(() => 'both'))
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    const code = await agent.does(`
      const code = await codeOf(() => my.locks[0].lockSync())
      my.locks[1].unlock()
      return code`)
    assert.equal(code, 'ERR_LOCK_DEADLOCK')
    assert.equal(await ended(inside), 'both')
  })

  it('are found among promises of two threads', async () => {
    const [a, b] = locks()
    const agent = startAgent(names)
    const there = agent.begins(`${takeLocks}
      const inside = async () => {
        const goes = new Promise((resolve) => { my.go = resolve })
        say('in')
        await goes
        await my.locks[0].runExclusive(() => {})
      }
      return codeOf(() => my.locks[1].runExclusive(inside))`)
    const { done } = await there
    const inside = async () => {
      await agent.does('my.go()')
      await b.runExclusive(() => {})
    }
    const here = codeOf(a.runExclusive(inside))
    const codes = await ended(Promise.all([here, done]))
    assert.equal(codes.filter((code) => code === 'ERR_LOCK_DEADLOCK').length, 1)
  })

  it('are found through a lock in shared memory', async () => {
    const a = new Mutex({ diagnostics, shared: true })
    const [b] = locks()
    const locked = a.lock()
    const agent = startAgent({ buffer: a.buffer, name: names[0] })
    await agent.does(`
      my.a = new Mutex({ buffer: workerData.buffer, diagnostics: true })
      my.b = new Mutex({ name: workerData.name, diagnostics: true })
      my.b.lockSync()`)
    let blocked
    const closing = locked.then(async () => {
      blocked = await agent.begins(`say('now'); my.a.lockSync(); my.a.unlock(); my.b.unlock()`)
      await hasWaiters(a)
      await b.acquire()
    })
    assert.equal(await ended(codeOf(closing)), 'ERR_LOCK_DEADLOCK')
    a.unlock()
    await ended(blocked.done)
  })

  it('end with a thread that was part of them', async () => {
    const [a, b] = locks()
    const agent = startAgent(names)
    const release = await a.acquire()
    await agent.does(`${takeLocks} my.locks[1].lockSync()`)
    agent.does(`say('now'); my.locks[0].lockSync()`).catch(assert.ifError)
    await agent.said
    await agent.dies()
    const next = await ended(b.acquire())
    assert.equal(next.abandoned, true)
    next()
    release()
  })
})
