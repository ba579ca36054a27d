'use strict'
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { Barrier, CountdownLatch, ManualResetEvent, Semaphore } = require('../..')
const { freshName, sleep, useAgents, within } = require('../helpers/agents.js')
const { inChild } = require('../helpers/children.js')
const { outcome, settled } = require('../helpers/keyed.js')
const { scaled } = require('../helpers/scale.js')
const { startWorker } = require('../helpers/workers.js')

const most = 2 ** 31 - 1

describe('CountdownLatch', () => {
  it('opens at zero for every waiter, and stays open', async () => {
    const latch = new CountdownLatch(3)
    const order = []
    const waits = [1, 2, 3].map((i) => latch.wait().then(() => order.push(i)))
    latch.countDown()
    latch.countDown()
    await settled()
    assert.deepEqual([order, latch.count, latch.tryWait()], [[], 1, false])
    latch.countDown()
    await Promise.all(waits)
    assert.deepEqual([order, latch.count], [[1, 2, 3], 0])
    for (let i = 0; i < 3; i++) {
      assert.ok(latch.tryWait())
      assert.equal(await latch.wait(), undefined)
      await latch.wait({ timeout: 0 })
    }
  })

  it('counts down several at once, from the largest count', async () => {
    const latch = new CountdownLatch(most)
    const wait = outcome(latch.wait())
    let left = most
    for (const n of [2 ** 30, 1, 2 ** 29, 5]) {
      latch.countDown(n)
      left -= n
      assert.equal(latch.count, left)
    }
    await settled()
    assert.equal(wait.state, 'pending')
    latch.countDown(left)
    await settled()
    assert.equal(wait.state, 'fulfilled')
    const alone = new CountdownLatch(most)
    alone.countDown(2 ** 30)
    alone.countDown(2 ** 30 - 2)
    assert.equal(alone.count, 1)
    alone.countDown()
    assert.ok(alone.tryWait())
  })

  it('of 0 is open', async () => {
    const latch = new CountdownLatch(0)
    assert.deepEqual([latch.count, latch.tryWait()], [0, true])
    await latch.wait()
  })

  it('refuses to be counted below zero, and does not change then', async () => {
    const makes = {
      alone: () => new CountdownLatch(2),
      'with a name': () => new CountdownLatch(2, { name: freshName() }),
      'in a buffer': () => new CountdownLatch(2, { buffer: new SharedArrayBuffer(8) }),
    }
    for (const make of Object.values(makes)) {
      const latch = make()
      const tooMany = { name: 'RangeError', code: 'ERR_LOCK_RANGE', message: /countdown latch/ }
      assert.throws(() => latch.countDown(3), tooMany)
      const wait = outcome(latch.wait({ timeout: 1e6 }))
      assert.throws(() => latch.countDown(3), tooMany)
      assert.equal(latch.count, 2)
      await settled()
      assert.equal(wait.state, 'pending')
      latch.countDown(2)
      await settled()
      assert.equal(wait.state, 'fulfilled')
      assert.throws(() => latch.countDown(), tooMany)
      assert.equal(latch.count, 0)
    }
    assert.throws(() => new CountdownLatch(1, { name: 'of a name' }).countDown(2), {
      message:
        'the countdown latch "of a name" has fewer than 2 left to count: look for a countDown() too many',
    })
  })

  it('refuses invalid counts', () => {
    for (const bad of [undefined, null, '1', 1n, {}]) {
      assert.throws(() => new CountdownLatch(bad), TypeError)
    }
    for (const bad of [-1, 1.5, NaN, Infinity, most + 1]) {
      assert.throws(() => new CountdownLatch(bad), RangeError)
    }
    const latch = new CountdownLatch(2)
    for (const bad of [null, '1', 1n, {}]) assert.throws(() => latch.countDown(bad), TypeError)
    for (const bad of [0, -1, 0.5, NaN, Infinity]) {
      assert.throws(() => latch.countDown(bad), RangeError)
    }
    assert.equal(latch.count, 2)
    for (const bad of [null, 1, 'a', { name: '' }, { buffer: new ArrayBuffer(8) }]) {
      assert.throws(() => new CountdownLatch(1, bad))
    }
    assert.throws(() => new CountdownLatch(1, { buffer: new SharedArrayBuffer(4) }), RangeError)
  })

  it('takes limits, and keeps nothing of a waiter that gives up', async () => {
    const latch = new CountdownLatch(1)
    const controller = new AbortController()
    const limits = [{ timeout: 2 }, { signal: controller.signal }, { timeout: 0 }, {}]
    limits.push({ signal: AbortSignal.abort('before') })
    const seen = limits.map((limit) => outcome(latch.wait(limit)))
    controller.abort('gone')
    while (seen[0].state === 'pending') await sleep(1)
    assert.equal(seen[0].reason.code, 'ERR_LOCK_TIMEOUT')
    assert.match(seen[0].reason.message, /the countdown latch was not open within 2 ms/)
    assert.deepEqual([seen[1].reason, seen[4].reason], ['gone', 'before'])
    assert.equal(seen[2].reason.code, 'ERR_LOCK_TIMEOUT')
    for (const bad of [null, 'a', { timeout: -1 }, { timeout: '1' }, { signal: 1 }]) {
      assert.throws(() => latch.wait(bad))
    }
    assert.deepEqual([latch.count, seen[3].state], [1, 'pending'])
    latch.countDown()
    await settled()
    assert.equal(seen[3].state, 'fulfilled')
  })

  it('an object made in its buffer while promises wait is the same latch', async () => {
    const latch = new CountdownLatch(3, { shared: true })
    latch.countDown()
    const waits = [outcome(latch.wait()), outcome(latch.wait({ timeout: 1e6 }))]
    const other = new CountdownLatch(3, { buffer: latch.buffer, byteOffset: latch.byteOffset })
    assert.equal(other.count, 2)
    other.countDown()
    await settled()
    assert.ok(waits.every(({ state }) => state === 'pending'))
    latch.countDown()
    await settled()
    assert.ok(waits.every(({ state }) => state === 'fulfilled'))
    assert.ok(other.tryWait())
    assert.throws(() => new CountdownLatch(1, { name: freshName() }).buffer, TypeError)
  })

  it('has one kind and count, by name and by memory', () => {
    const name = freshName()
    const buffer = new SharedArrayBuffer(16)
    for (const at of [{ name }, { buffer, byteOffset: 8 }]) {
      const first = new CountdownLatch(2, at)
      first.countDown()
      assert.equal(new CountdownLatch(2, at).count, 1)
      const mismatch = { code: 'ERR_LOCK_MISMATCH', message: /the countdown latch/ }
      assert.throws(() => new CountdownLatch(1, at), mismatch)
    }
    const inUse = { code: 'ERR_LOCK_MISMATCH', message: /by a countdown latch/ }
    assert.throws(() => new Semaphore(2, { buffer, byteOffset: 8 }), inUse)
    assert.throws(() => new Barrier(2, { buffer, byteOffset: 8 }), inUse)
    assert.equal(new ManualResetEvent({ name }).isSet(), false)
    assert.equal(new Barrier(2, { name }).waiting, 0)
  })

  it('blocks the main thread only if that is allowed, and only if another thread can end the wait', () => {
    assert.throws(() => new CountdownLatch(0).waitSync(), {
      name: 'TypeError',
      message: /waitSync\(\) would block the main thread/,
    })
    const allowed = { allowBlockingMainThread: true }
    const latch = new CountdownLatch(1, allowed)
    assert.throws(() => latch.waitSync({ timeout: 5 }), { code: 'ERR_LOCK_DEADLOCK' })
    for (const bad of [null, 1, { timeout: -1 }, { signal: new AbortController().signal }]) {
      assert.throws(() => latch.waitSync(bad))
    }
    latch.countDown()
    assert.equal(latch.waitSync(), undefined)
    const shared = new CountdownLatch(1, { name: freshName(), ...allowed })
    const before = performance.now()
    assert.throws(() => shared.waitSync({ timeout: 20 }), { code: 'ERR_LOCK_TIMEOUT' })
    assert.ok(performance.now() - before >= 19)
    shared.countDown()
    shared.waitSync({ timeout: 0 })
  })
})

describe('CountdownLatch: threads', function () {
  this.timeout(60_000)
  const agent = useAgents()
  const head = 'const latch = (my.latch ??= new boxoffice.CountdownLatch(2, workerData));'

  it('the last count admits blocked workers and promises', async () => {
    for (const options of [{ name: freshName() }, { buffer: new SharedArrayBuffer(8) }]) {
      const latch = new CountdownLatch(2, options)
      const [one, other] = [agent(options), agent(options)]
      const blocked = await one.begins(`${head} say(1); latch.waitSync(); return latch.count`)
      const waits = [latch.wait(), other.does(`${head} await latch.wait(); return latch.count`)]
      latch.countDown()
      await sleep(10)
      await agent(options).does(`${head} latch.countDown()`)
      assert.deepEqual(await Promise.all([blocked.done, ...waits]), [0, undefined, 0])
    }
  })

  it('a blocked wait times out, and ends when its worker is terminated', async () => {
    const options = { name: freshName() }
    const latch = new CountdownLatch(2, options)
    const worker = agent(options)
    const code = `${head} return codeOf(() => latch.waitSync({ timeout: 5 }))`
    assert.equal(await worker.does(code), 'ERR_LOCK_TIMEOUT')
    await worker.begins(`${head} say(1); latch.waitSync()`)
    await within(8000, worker.dies())
    const wait = latch.wait()
    latch.countDown(2)
    await wait
  })

  it('a named latch that has been counted outlives its objects', async () => {
    const options = { name: freshName() }
    const worker = agent(options)
    await worker.does(`${head} latch.countDown()`)
    await worker.dies()
    assert.equal(new CountdownLatch(2, options).count, 1)
  })

  it('counts each countDown once, in any interleaving of threads', async () => {
    const count = scaled(20_000, 500)
    const options = { name: freshName() }
    const latch = new CountdownLatch(count, options)
    // Each of three threads tries to count half of it, so half of the attempts must be refused.
    const code = `
      const { CountdownLatch } = require(${JSON.stringify(require.resolve('../..'))})
      const { count, options } = workerData
      const latch = new CountdownLatch(count, options)
      let early = 0
      const waits = []
      const watch = () => waits.push(latch.wait().then(() => { if (latch.count !== 0) early++ }))
      parentPort.postMessage('ready')
      parentPort.once('message', async () => {
        let counted = 0
        for (let i = 0; i < count / 2; i++) {
          const n = 1 + i % 3
          try {
            latch.countDown(n)
            counted += n
          } catch (error) {
            if (error.code !== 'ERR_LOCK_RANGE') throw error
          }
          if (i % 50 === 0) watch()
          if (i % 16 === 0) await new Promise(setImmediate)
        }
        for (;;) {
          try { latch.countDown(); counted++ } catch { break }
        }
        await Promise.all(waits)
        parentPort.postMessage({ counted, early, waits: waits.length })
        process.exit()
      })`
    const workers = [1, 2, 3].map(() => startWorker(code, { count, options }))
    await Promise.all(workers.map((worker) => once(worker, 'message')))
    const ends = workers.map((worker) => once(worker, 'message'))
    for (const worker of workers) worker.postMessage('go')
    await latch.wait()
    assert.equal(latch.count, 0)
    const results = (await Promise.all(ends)).map(([result]) => result)
    assert.equal(
      results.reduce((sum, { counted }) => sum + counted, 0),
      count,
    )
    for (const { early, waits } of results) assert.deepEqual([early, waits > 0], [0, true])
  })

  it('a thread that ends while it waits leaves nothing behind', async () => {
    const deaths = scaled(100, 6)
    for (let i = 0; i < deaths; i += 4) {
      const latch = new CountdownLatch(1, { shared: true })
      const at = { buffer: latch.buffer }
      const code = `
        const { CountdownLatch } = require(${JSON.stringify(require.resolve('../..'))})
        const latch = new CountdownLatch(1, workerData)
        for (let i = 0; i < 3; i++) latch.wait()
        parentPort.postMessage('waits')
        if (${i % 8 === 0}) latch.waitSync()`
      const workers = Array.from({ length: 4 }, () => startWorker(code, at))
      await Promise.all(workers.map((worker) => once(worker, 'message')))
      const wait = latch.wait({ timeout: 10_000 })
      const ends = workers.map((worker) => worker.terminate())
      if (i % 3 === 0) await settled()
      latch.countDown()
      await wait
      await Promise.all(ends)
      assert.equal(latch.count, 0)
    }
  })
})

describe('CountdownLatch: the process', function () {
  this.timeout(30_000)

  it('is kept alive by a wait that another thread could end, and by no other', async () => {
    const code = (count, options) => `
      const { CountdownLatch } = require(entry)
      process.on('exit', () => show('exit'))
      new CountdownLatch(${count}).wait().then(() => show('never'))
      const latch = new CountdownLatch(${count}, ${options})
      latch.wait().then(() => show('open'))`
    const worker = `
      const worker = new Worker(\`
        const { CountdownLatch } = require(\${JSON.stringify(entry)})
        const latch = new CountdownLatch(1, { name: 'l' })
        require('node:worker_threads').parentPort.postMessage('here')
        setTimeout(() => latch.countDown(), 100)\`, { eval: true })
      worker.once('message', () => worker.unref())`
    const named = "{ name: 'l' }"
    assert.deepEqual(await inChild(code(1, named) + worker), ['open', 'exit'])
    assert.deepEqual(await inChild(code(1, named)), ['exit'], 'there is no other thread')
  })
})
