'use strict'
// One lock manager for all threads.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')
const { locks } = require('../..')
const { freshName, useAgents } = require('../helpers/agents.js')
const { outcome, settled } = require('../helpers/keyed.js')
const { assertFree, stateOf, useHolders } = require('../helpers/web_locks.js')

const entry = JSON.stringify(require.resolve('../..'))

describe('locks between threads', function () {
  this.timeout(60_000)
  const newAgent = useAgents()
  const hold = useHolders()
  let name
  beforeEach(() => {
    name = freshName()
  })

  /** In `agent`: resolves once it is held, until `my.end()`. */
  const holdsIn = (agent, options = {}) =>
    agent.does(`await new Promise((resolve) => {
      my.promise = boxoffice.locks.request('${name}', ${JSON.stringify(options)}, () => {
        resolve()
        return new Promise((end) => { my.end = end })
      })
      my.promise.catch(() => {})
    })`)

  it('exclude each other', async () => {
    const agent = newAgent()
    await holdsIn(agent)
    assert.deepEqual(await stateOf(name), { held: ['exclusive'], pending: [] })
    const ours = outcome(locks.request(name, () => 'ours'))
    await settled()
    assert.equal(ours.state, 'pending')
    assert.equal(await locks.request(name, { ifAvailable: true }, (lock) => lock), null)
    await agent.does('my.end(1)')
    assert.equal(await locks.request(name, () => 'after'), 'after')
    assert.equal(ours.value, 'ours')
    await assertFree(name)
  })

  it('are shared by threads that request them as shared', async () => {
    const agents = [newAgent(), newAgent()]
    for (const agent of agents) await holdsIn(agent, { mode: 'shared' })
    await hold(name, { mode: 'shared' })
    assert.deepEqual(await stateOf(name), { held: ['shared', 'shared', 'shared'], pending: [] })
  })

  it('are granted in the order of the requests, across threads', async () => {
    const order = new Int32Array(new SharedArrayBuffer(64))
    const agents = [newAgent({ order }), newAgent({ order })]
    const held = await hold(name)
    const note = (order, i) => {
      order[Atomics.add(order, 0, 1) + 1] = i
    }
    const ours = []
    const whose = [0, 2, 1, 1, 0, 2, 2, 0, 1]
    for (const [i, who] of whose.entries()) {
      if (who === 2) {
        ours.push(locks.request(name, () => note(order, i)))
      } else {
        await agents[who].does(`my.all ??= []
          my.all.push(boxoffice.locks.request('${name}', () => (${note})(workerData.order, ${i})))`)
      }
    }
    held.end()
    await Promise.all([...ours, ...agents.map((agent) => agent.does('await Promise.all(my.all)'))])
    assert.deepEqual([...order.subarray(1, 10)], [0, 1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('let no shared request overtake an exclusive one of another thread', async () => {
    const agent = newAgent()
    await hold(name, { mode: 'shared' })
    await agent.does(`boxoffice.locks.request('${name}', () => {})`)
    const late = outcome(locks.request(name, { mode: 'shared' }, () => 'late'))
    await settled()
    assert.equal(late.state, 'pending')
    assert.deepEqual(await stateOf(name), { held: ['shared'], pending: ['exclusive', 'shared'] })
  })

  it('are listed by query() in every thread, with their clientId', async () => {
    const agent = newAgent()
    await holdsIn(agent)
    locks.request(name, { mode: 'shared' }, () => {})
    const client = (id) => `node-${process.pid}-${id}`
    const expected = {
      held: [{ name, mode: 'exclusive', clientId: client(agent.worker.threadId) }],
      pending: [{ name, mode: 'shared', clientId: client(0) }],
    }
    assert.deepEqual(await locks.query(), expected)
    assert.deepEqual(await agent.does('return boxoffice.locks.query()'), expected)
  })

  it('can be stolen from another thread, which is told', async () => {
    const agent = newAgent()
    await holdsIn(agent)
    await locks.request(name, { steal: true }, async () => {
      const code = await agent.does('return codeOf(() => my.promise)')
      assert.equal(code, 20) // a DOMException's for AbortError
      await agent.does('my.end()')
      assert.deepEqual(await stateOf(name), { held: ['exclusive'], pending: [] })
    })
    await assertFree(name)
  })

  /** In an agent with `gate` as its data: reads no completion until openGate(gate). */
  const newGate = () => new Int32Array(new SharedArrayBuffer(4))
  const staysDeaf = "say('blocked'); Atomics.wait(workerData.gate, 0, 0)"
  function openGate(gate) {
    Atomics.store(gate, 0, 1)
    Atomics.notify(gate, 0)
  }

  it('can be stolen from a holder that does not know of its grant yet', async () => {
    const gate = newGate()
    const agent = newAgent({ gate })
    const held = await hold(name)
    const done = agent.does(`
      const log = []
      my.robbed = boxoffice.locks.request('${name}', () => log.push('called')).catch((error) => log.push(error.name))
      my.acquirer = boxoffice.locks.acquire('${name}', { timeout: 1e6 }).then(() => log.push('acquired'), (error) => log.push(error.name))
      my.log = log`)
    await done
    const { said, done: over } = await agent.begins(staysDeaf)
    assert.equal(said, 'blocked')
    held.end()
    await held.promise
    // It has been granted, and the worker does not know.
    assert.deepEqual(await stateOf(name), { held: ['exclusive'], pending: ['exclusive'] })
    await locks.request(name, { steal: true }, () => {})
    await locks.request(name, { steal: true }, () => {})
    openGate(gate)
    await over
    await agent.does('await Promise.all([my.robbed, my.acquirer])')
    const log = await agent.does('return my.log')
    assert.deepEqual(log.sort(), ['AbortError', 'AbortError', 'called'])
    const timers = await agent.does("return process.getActiveResourcesInfo().includes('Timeout')")
    assert.equal(timers, false)
    await assertFree(name)
  })

  it('pass on a grant that an abort finds before the thread has read it', async () => {
    const gate = newGate()
    const agent = newAgent({ gate })
    const held = await hold(name)
    await agent.does(`
      my.controller = new AbortController()
      my.seen = boxoffice.locks.request('${name}', { signal: my.controller.signal }, () => 'called')
        .catch((error) => error.name)`)
    const { done } = await agent.begins(`${staysDeaf}; my.controller.abort()`)
    held.end()
    await held.promise
    assert.deepEqual(await stateOf(name), { held: ['exclusive'], pending: [] })
    openGate(gate)
    await done
    assert.equal(await locks.request(name, () => 'ours'), 'ours')
    assert.equal(await agent.does('return my.seen'), 'AbortError')
    await assertFree(name)
  })

  it('of a thread that ends go to the next request, whose Releaser reports it', async () => {
    for (const [mode, abandoned] of [
      ['exclusive', true],
      ['shared', false],
    ]) {
      const agent = newAgent()
      await holdsIn(agent, { mode })
      const plain = locks.request(`${name} other`, () => 1)
      const next = locks.acquire(name)
      await agent.dies()
      const release = await next
      assert.equal(release.abandoned, abandoned)
      release()
      assert.equal((await locks.acquire(name)).abandoned, false)
      await plain
      await locks.request(name, { steal: true }, () => {})
    }
    await assertFree(name)
  })

  it('report a death to the next request without a waiter', async () => {
    const agent = newAgent()
    await holdsIn(agent)
    await agent.dies()
    assert.deepEqual(await stateOf(name), { held: [], pending: [] })
    const [first, second] = [locks.acquire(name), locks.acquire(name)]
    const release = await first
    assert.equal(release.abandoned, true)
    release()
    assert.equal((await second).abandoned, false)
    await locks.request(name, { steal: true }, () => {})
    await assertFree(name)
  })

  it('report a death to the next request when the first one to be told was aborted', async () => {
    const agent = newAgent()
    await holdsIn(agent)
    await agent.dies()
    const controller = new AbortController()
    const late = locks.request(name, { signal: controller.signal }, () => assert.fail())
    controller.abort(new Error('too late'))
    await assert.rejects(late, { message: 'too late' })
    const release = await locks.acquire(name)
    assert.equal(release.abandoned, true)
    release()
    await assertFree(name)
  })

  it('report a death to the next request when the first one to be told died as well', async () => {
    const [agent, deaf] = [newAgent(), newAgent()]
    await holdsIn(agent)
    await deaf.does(`boxoffice.locks.acquire('${name}')`)
    await deaf.begins("say('blocked'); sleep(60_000)")
    const next = locks.acquire(name)
    await agent.dies()
    assert.deepEqual(await stateOf(name), { held: ['exclusive'], pending: ['exclusive'] })
    await deaf.dies()
    const release = await next
    assert.equal(release.abandoned, true)
    release()
    await assertFree(name)
  })

  it('report to a thief a death that its victim does not know of yet', async () => {
    const gate = newGate()
    const [agent, deaf] = [newAgent(), newAgent({ gate })]
    await holdsIn(agent)
    await deaf.does(`my.robbed = codeOf(() => boxoffice.locks.acquire('${name}'))`)
    const { done } = await deaf.begins(staysDeaf)
    await agent.dies()
    const release = await locks.acquire(name, { steal: true })
    assert.equal(release.abandoned, true)
    release()
    openGate(gate)
    await done
    assert.equal(await deaf.does('return my.robbed'), 20) // a DOMException's for AbortError
    await assertFree(name)
  })

  it('of two copies of the manager in one thread are one', async () => {
    const file = require.resolve('../..')
    const cached = Object.keys(require.cache).filter((key) =>
      key.startsWith(file.replace(/index\.js$/, '')),
    )
    const saved = cached.map((key) => [key, require.cache[key]])
    for (const key of cached) delete require.cache[key]
    try {
      const other = require('../..')
      assert.notEqual(other.locks, locks)
      const held = await hold(name)
      assert.equal(await other.locks.request(name, { ifAvailable: true }, (lock) => lock), null)
      const theirs = other.locks.request(name, () => 'theirs')
      held.end()
      assert.equal(await theirs, 'theirs')
    } finally {
      for (const [key, module] of saved) require.cache[key] = module
    }
  })

  it('are not kept by a worker that ends while it waits', async () => {
    const held = await hold(name)
    const worker = new Worker(
      `const { parentPort } = require('node:worker_threads')
       const { locks } = require(${entry})
       for (let i = 0; i < 100; i++) locks.request('${name}', { mode: i % 2 ? 'shared' : 'exclusive' }, () => {})
       parentPort.postMessage('waits')`,
      { eval: true },
    )
    await once(worker, 'message')
    assert.equal((await stateOf(name)).pending.length, 100)
    const next = locks.request(name, () => 'next')
    worker.terminate()
    await once(worker, 'exit')
    assert.deepEqual((await stateOf(name)).pending, ['exclusive'])
    held.end()
    assert.equal(await next, 'next')
    await assertFree(name)
  })
})
