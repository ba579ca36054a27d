'use strict'
const assert = require('node:assert/strict')
const { ConditionVariable, Mutex } = require('../..')
const { freshName, sleep, useAgents, within } = require('../helpers/agents.js')
const { inChild } = require('../helpers/children.js')
const { outcome, settled } = require('../helpers/keyed.js')
const { scaled } = require('../helpers/scale.js')

describe('ConditionVariable', () => {
  let mutex
  let condition
  beforeEach(() => {
    mutex = new Mutex()
    condition = new ConditionVariable()
  })

  it('releases the mutex while it waits, and holds it again afterwards', async () => {
    const release = await mutex.acquire()
    const wait = outcome(condition.wait(mutex))
    assert.equal(mutex.isLocked(), false)
    const other = await mutex.acquire()
    condition.notifyOne()
    await settled()
    assert.equal(wait.state, 'pending')
    release() // its grant is interrupted
    assert.ok(mutex.isLocked())
    other()
    await settled()
    assert.equal(wait.state, 'fulfilled')
    other() // it has ended
    assert.ok(mutex.isLocked())
    release()
    assert.equal(mutex.isLocked(), false)
  })

  it('notifyOne wakes the first waiter, notifyAll all waiters; without a waiter neither has an effect', async () => {
    condition.notifyOne()
    condition.notifyAll()
    const waits = []
    for (let i = 0; i < 5; i++) {
      await mutex.lock()
      waits.push(outcome(condition.wait(mutex).then(() => mutex.unlock())))
    }
    condition.notifyOne()
    await settled()
    assert.deepEqual(
      waits.map(({ state }) => state),
      ['fulfilled', 'pending', 'pending', 'pending', 'pending'],
    )
    condition.notifyAll()
    await settled()
    assert.ok(waits.every(({ state }) => state === 'fulfilled'))
    assert.equal(mutex.isLocked(), false)
  })

  it('checks its arguments', async () => {
    assert.throws(() => condition.wait(mutex), { code: 'ERR_LOCK_NOT_HELD' })
    assert.throws(() => condition.wait({}), TypeError)
    assert.throws(() => condition.wait(undefined), TypeError)
    assert.throws(() => condition.waitSync(mutex), TypeError)
    await mutex.lock()
    for (const bad of [null, 'a', { timeout: '1' }, { timeout: -1 }, { signal: {} }]) {
      assert.throws(() => condition.wait(mutex, bad))
      assert.ok(mutex.isLocked())
    }
    const shared = new ConditionVariable({ name: freshName() })
    assert.throws(() => shared.wait(mutex), TypeError)
    assert.throws(() => shared.buffer, TypeError)
    const blocking = new ConditionVariable({ allowBlockingMainThread: true })
    assert.throws(() => blocking.waitSync(mutex), { code: 'ERR_LOCK_DEADLOCK' })
  })

  it('a wait that ends at once keeps the mutex', async () => {
    const release = await mutex.acquire()
    await assert.rejects(condition.wait(mutex, { timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
    const signal = AbortSignal.abort('gone')
    const wait = outcome(condition.wait(mutex, { signal }))
    await settled()
    assert.equal(wait.reason, 'gone')
    assert.ok(mutex.isLocked())
    release()
    assert.equal(mutex.isLocked(), false)
  })

  for (const how of ['timeout', 'abort']) {
    it(`a wait that ends by ${how} holds the mutex again before it rejects`, async () => {
      const controller = new AbortController()
      const release = await mutex.acquire()
      const { signal } = controller
      const limits = how === 'abort' ? { signal } : { timeout: 2, signal }
      const wait = outcome(condition.wait(mutex, limits))
      const other = await mutex.acquire()
      if (how === 'abort') controller.abort('gone')
      await sleep(20)
      controller.abort('late') // it has left the queue of the condition
      assert.equal(wait.state, 'pending')
      mutex.cancel() // not for waiters that must hold it again
      condition.notifyAll() // too late
      await settled()
      assert.equal(wait.state, 'pending')
      other()
      await settled()
      assert.equal(wait.state, 'rejected')
      assert.equal(wait.reason.code ?? wait.reason, how === 'abort' ? 'gone' : 'ERR_LOCK_TIMEOUT')
      assert.ok(mutex.isLocked())
      release()
      assert.equal(mutex.isLocked(), false)
    })
  }

  it('cancel of the mutex does not affect notified waiters', async () => {
    await mutex.lock()
    const wait = outcome(condition.wait(mutex, { timeout: 1e6 }))
    const other = await mutex.acquire()
    const canceled = outcome(mutex.acquire())
    condition.notifyOne()
    mutex.cancel('no')
    await settled()
    assert.deepEqual([wait.state, canceled.reason], ['pending', 'no'])
    other()
    await settled()
    assert.equal(wait.state, 'fulfilled')
    mutex.unlock()
  })

  it('runExclusive with a wait inside releases once, at its end', async () => {
    const order = []
    const first = mutex.runExclusive(async () => {
      await condition.wait(mutex)
      order.push('notified')
      await settled()
      order.push('end')
    })
    await settled()
    await mutex.runExclusive(() => {
      order.push('notifies')
      condition.notifyOne()
    })
    await Promise.all([first, mutex.runExclusive(() => order.push('after'))])
    assert.deepEqual(order, ['notifies', 'notified', 'end', 'after'])
    assert.equal(mutex.isLocked(), false)
  })
})

describe('ConditionVariable: threads', () => {
  const agent = useAgents()
  let names
  let mutex
  let condition
  const head = `
    const mutex = (my.mutex ??= new Mutex({ name: workerData[0] }))
    const condition = (my.condition ??= new ConditionVariable({ name: workerData[1] }));`
  beforeEach(() => {
    names = [freshName(), freshName()]
    mutex = new Mutex({ name: names[0] })
    condition = new ConditionVariable({ name: names[1] })
  })
  const blocked = async (worker, limits = '') => {
    const waiting = await worker.begins(`${head} mutex.lockSync(); say(1)
      const code = await codeOf(() => condition.waitSync(mutex${limits}))
      const held = mutex.isLocked()
      mutex.unlock()
      return [code, held]`)
    await mutex.lock() // the wait begins when it releases
    return waiting
  }

  it('a notified waiter gets the mutex in its turn, and so do promises that wait for the mutex', async () => {
    const order = []
    const critical = (name) =>
      mutex.runExclusive(async () => {
        order.push(name)
        await settled()
      })
    await mutex.lock()
    const wait = condition.wait(mutex).then(() => {
      order.push('notified')
      mutex.unlock()
    })
    await mutex.lock()
    const others = [critical('first'), critical('second')]
    condition.notifyOne()
    mutex.unlock()
    await Promise.all([wait, ...others])
    assert.deepEqual(order, ['notified', 'first', 'second'])
    assert.equal(mutex.isLocked(), false)
  })

  it('a blocked wait gets the mutex again, even if a promise waits for it beside a notified one', async () => {
    const code = agent(names).does(`${head}
      await mutex.lock()
      const wait = condition.wait(mutex).then(() => mutex.unlock())
      await mutex.lock()
      const next = mutex.lock()
      condition.notifyOne()
      mutex.unlock()
      await wait
      await next
      const code = await codeOf(() => condition.waitSync(mutex, { timeout: 5 }))
      mutex.unlock()
      return code`)
    assert.equal(await within(10_000, code), 'ERR_LOCK_TIMEOUT')
  })

  it('a promise of this thread wakes a blocked worker, and the other way round', async () => {
    const worker = agent(names)
    const { done } = await blocked(worker)
    await sleep(30)
    condition.notifyOne()
    mutex.unlock()
    assert.deepEqual(await done, [undefined, true])
    await mutex.lock()
    const wait = condition.wait(mutex)
    await worker.does(`${head} mutex.lockSync(); condition.notifyOne(); sleep(5); mutex.unlock()`)
    await wait
    mutex.unlock()
  })

  it('a blocked wait times out, and holds the mutex then', async () => {
    const { done } = await blocked(agent(names), ', { timeout: 20 }')
    await sleep(60)
    mutex.unlock()
    assert.deepEqual(await done, ['ERR_LOCK_TIMEOUT', true])
  })

  it('a blocked wait throws if a promise of its thread already waits', async () => {
    const worker = agent(names)
    await worker.does(`${head} await mutex.lock(); my.wait = condition.wait(mutex)`)
    const code = `${head} await mutex.lock()
      const code = await codeOf(() => condition.waitSync(mutex, { timeout: 10 }))
      mutex.unlock()
      return code`
    assert.equal(await worker.does(code), 'ERR_LOCK_DEADLOCK')
  })

  it('a blocked wait throws if a promise of its thread waits for another condition of the mutex', async () => {
    const code = agent(names).does(`${head}
      const other = new ConditionVariable({ name: workerData[1] + ' of another' })
      await mutex.lock()
      const wait = other.wait(mutex).then(() => mutex.unlock())
      await mutex.lock()
      const code = await codeOf(() => condition.waitSync(mutex, { timeout: 5 }))
      other.notifyOne()
      mutex.unlock()
      await wait
      return code`)
    assert.equal(await within(10_000, code), 'ERR_LOCK_DEADLOCK')
  })

  it('a blocked wait throws if a promise of its thread waits for the mutex', async () => {
    const code = `${head} await mutex.lock()
      const waiting = mutex.acquire()
      const code = await codeOf(() => condition.waitSync(mutex, { timeout: 10 }))
      mutex.unlock()
      ;(await waiting)()
      return code`
    assert.equal(await agent(names).does(code), 'ERR_LOCK_DEADLOCK')
    assert.equal(mutex.isLocked(), false)
  })

  it('a notified worker that cannot get the mutex can be terminated', async () => {
    const worker = agent(names)
    await blocked(worker)
    await sleep(30)
    condition.notifyOne()
    await within(8000, worker.dies())
    mutex.unlock()
  })

  for (const pause of [0, 5]) {
    it(`the death of a notified waiter passes the notification on (mutex held ${pause} ms longer)`, async () => {
      const worker = agent(names)
      await worker.begins(`${head} await mutex.lock(); condition.wait(mutex); say(1); for (;;);`)
      await mutex.lock()
      const wait = condition.wait(mutex)
      await mutex.lock()
      condition.notifyOne()
      if (pause > 0) await sleep(pause)
      mutex.unlock()
      await worker.dies()
      await within(8000, wait)
      mutex.unlock()
    })
  }

  it('a critical section that throws after it has notified ends the process', async () => {
    const code = `
      const { ConditionVariable } = require(entry)
      const mutex = new Mutex({ name: 'm' })
      const condition = new ConditionVariable({ name: 'c' })
      const worker = new Worker(\`
        const { Mutex, ConditionVariable } = require(\${JSON.stringify(entry)})
        const mutex = new Mutex({ name: 'm' })
        mutex.lockSync()
        require('node:worker_threads').parentPort.postMessage(1)
        new ConditionVariable({ name: 'c' }).waitSync(mutex)\`, { eval: true })
      await require('node:events').once(worker, 'message')
      await mutex.lock()
      condition.notifyOne()
      show('exits')
      process.exit()`
    assert.deepEqual(await inChild(code), ['exits'])
  })

  const items = scaled(100_000, 5000)
  it(`four workers pass ${items} items through a bounded buffer: none lost, none twice`, async function () {
    this.timeout(120_000)
    const room = 8
    // [0] in, [1] out, [2] sum, [3] overfull; then the ring
    const ring = new Int32Array(new SharedArrayBuffer(4 * (4 + room)))
    const seen = new Uint8Array(new SharedArrayBuffer(items))
    const data = [...names, freshName(), ring, seen]
    const common = `${head}
      const notFull = new ConditionVariable({ name: workerData[2] })
      const [, , , ring, seen] = workerData;`
    const waits = {
      sync: ['mutex.lockSync()', (c) => `${c}.waitSync(mutex)`],
      async: ['await mutex.lock()', (c) => `await ${c}.wait(mutex)`],
    }
    const producer = ([lock, wait]) => `${common}
      for (;;) {
        ${lock}
        while (ring[0] - ring[1] === ${room} && ring[0] < ${items}) ${wait('notFull')}
        const end = ring[0] === ${items}
        if (!end) ring[4 + (ring[0]++ % ${room})] = ring[0]
        if (ring[0] - ring[1] > ${room}) ring[3]++
        if (ring[0] === ${items}) { condition.notifyAll(); notFull.notifyAll() }
        else condition.notifyOne()
        mutex.unlock()
        if (end) return
      }`
    const consumer = ([lock, wait]) => `${common}
      for (;;) {
        ${lock}
        while (ring[0] === ring[1] && ring[1] < ${items}) ${wait('condition')}
        const end = ring[1] === ${items}
        if (!end) seen[ring[4 + (ring[1]++ % ${room})] - 1]++
        if (ring[1] === ${items}) condition.notifyAll()
        notFull.notifyOne()
        mutex.unlock()
        if (end) return
      }`
    const makes = [producer(waits.sync), producer(waits.async)]
    makes.push(consumer(waits.sync), consumer(waits.async))
    await Promise.all(makes.map((code) => agent(data).does(code)))
    assert.deepEqual([...ring.subarray(0, 4)], [items, items, 0, 0])
    assert.ok(seen.every((times) => times === 1))
  })
})
