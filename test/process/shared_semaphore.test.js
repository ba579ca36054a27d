'use strict'
const assert = require('node:assert/strict')
const { Semaphore } = require('../..')
const { freshName, sleep, useAgents, within } = require('../helpers/agents.js')
const { inChild } = require('../helpers/children.js')
const { outcome, settled } = require('../helpers/keyed.js')
const { queued } = require('../helpers/promises.js')

describe('Semaphore: threads', () => {
  const agent = useAgents()
  let name
  let value
  const make = (first, more) => {
    name = freshName()
    value = first
    return new Semaphore(first, { name, ...more })
  }
  const worker = () => agent({ name, value })
  const head = `
    const { name, value } = workerData
    const semaphore = (my.semaphore ??= new Semaphore(value, { name }));`

  it('gives a blocking call with a timeout of 0 what a longer one gets at once', async () => {
    const semaphore = make(1, { allowBlockingMainThread: true })
    const heavy = semaphore.acquire(2)
    assert.throws(() => semaphore.acquireSync({ timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
    for (const timeout of [0, 1000]) {
      const [before, release] = semaphore.acquireSync({ timeout, priority: 1 })
      assert.equal(before, 1)
      assert.throws(() => semaphore.acquireSync({ timeout: 0, priority: 1 }), {
        code: 'ERR_LOCK_TIMEOUT',
      })
      release()
    }
    semaphore.release(1)
    const [, release] = await heavy
    release()
  })

  it('serves blocked workers and promises in one queue, by weight and priority', async () => {
    const semaphore = make(4)
    const order = []
    const [, release] = await semaphore.acquire(4)
    const workers = [worker(), worker()]
    const note = (name, wait) => wait.then(() => order.push(name))
    const heavy = note('heavy', semaphore.acquire(3))
    const light = await workers[0].begins(`${head} say(1)
      const [before, release] = semaphore.acquireSync(2)
      release()
      return before`)
    await queued(semaphore, 2)
    const first = await workers[1].begins(`${head} say(1)
      const [, release] = semaphore.acquireSync(1, { priority: 1 })
      release()`)
    await queued(semaphore, 3)
    const done = [note('light', light.done), note('first', first.done)]
    assert.equal(semaphore.tryAcquire(1), undefined)
    release()
    await heavy
    semaphore.release(3)
    await Promise.all(done)
    assert.deepEqual([order.length, semaphore.getValue()], [3, 4])
    assert.ok(order.indexOf('heavy') < order.indexOf('light'))
  })

  it('setValue and release from another thread admit waiters', async () => {
    const semaphore = make(0)
    const other = worker()
    const waits = [2, 1, 1].map((weight) => outcome(semaphore.acquire(weight)))
    await other.does(`${head} semaphore.setValue(2)`)
    while (waits[0].state === 'pending') await settled()
    assert.equal(waits[1].state, 'pending')
    await other.does(`${head} semaphore.release(2)`)
    while (waits[2].state === 'pending') await settled()
    assert.equal(waits[1].state, 'fulfilled')
    await other.does(`${head} semaphore.setValue(-3)`)
    assert.deepEqual([semaphore.getValue(), semaphore.isLocked()], [-3, true])
    semaphore.release(3)
    assert.equal(await other.does(`${head} return semaphore.getValue()`), 0)
  })

  it('cancel is for its own thread; timeouts and aborts leave nothing behind', async () => {
    const semaphore = make(1)
    const other = worker()
    await other.does(`${head} my.release = (await semaphore.acquire())[1]`)
    const theirs = worker().does(`${head} const [, release] = await semaphore.acquire(); release()`)
    const controller = new AbortController()
    const ours = [{ timeout: 5 }, { signal: controller.signal }, {}].map((limits) =>
      outcome(semaphore.acquire(limits)),
    )
    controller.abort('gone')
    while (ours[0].state === 'pending') await sleep(1)
    semaphore.cancel('no')
    await settled()
    const reasons = ours.map(({ reason }) => reason.code ?? reason)
    assert.deepEqual(reasons, ['ERR_LOCK_TIMEOUT', 'gone', 'no'])
    await other.does('my.release()')
    await theirs
    assert.equal(semaphore.getValue(), 1)
  })

  it('waitForUnlock resolves at a release in another thread, and takes nothing', async () => {
    const semaphore = make(2)
    const other = worker()
    await other.does(`${head} my.release = (await semaphore.acquire(2))[1]`)
    const wait = outcome(semaphore.waitForUnlock(2))
    await assert.rejects(semaphore.waitForUnlock(1, { timeout: 2 }), { code: 'ERR_LOCK_TIMEOUT' })
    assert.equal(wait.state, 'pending')
    await other.does('my.release()')
    while (wait.state === 'pending') await settled()
    assert.equal(semaphore.getValue(), 2)
  })

  it('the units of a dead worker go back, and the next grant reports it, once', async () => {
    const semaphore = make(5)
    const dying = worker()
    await dying.does(
      `${head} semaphore.acquire(2); semaphore.acquireSync(1); semaphore.tryAcquire()`,
    )
    const mine = semaphore.tryAcquire()[1]
    const wait = semaphore.acquire(3)
    await dying.dies()
    const [before, release] = await wait
    assert.deepEqual([before, release.abandoned], [4, true])
    assert.equal(semaphore.tryAcquire()[1].abandoned, false)
    mine()
    release()
    semaphore.release()
    assert.equal(semaphore.getValue(), 5)
  })

  it('a caller is told of a death, and not that of waitForUnlock() before it', async () => {
    const semaphore = make(3)
    const dying = worker()
    await dying.does(`${head} await semaphore.acquire(3)`)
    const passing = semaphore.waitForUnlock()
    const waiting = [semaphore.acquire(), semaphore.acquire()]
    await dying.dies()
    await passing
    const tickets = await Promise.all(waiting)
    assert.deepEqual(
      tickets.map(([, { abandoned }]) => abandoned),
      [true, false],
    )
  })

  it('units that a dead worker has put back or consumed do not go back', async () => {
    const semaphore = make(0)
    const dying = worker()
    semaphore.release(3)
    await dying.does(`${head} await semaphore.acquire(3)`)
    await dying.dies()
    assert.equal(semaphore.getValue(), 0)
    const full = make(3)
    const second = worker()
    await second.does(`${head} const [, release] = await semaphore.acquire(2); release()`)
    await second.dies()
    assert.equal(full.getValue(), 3)
    assert.equal(full.tryAcquire()[1].abandoned, false)
  })

  it('has one holder of its one unit, though another thread released it for a worker that dies', async () => {
    const semaphore = make(1)
    const dying = worker()
    await dying.does(`${head} await semaphore.acquire()`)
    semaphore.release()
    const [, release] = await semaphore.acquire()
    await dying.dies()
    assert.equal(semaphore.tryAcquire(), undefined)
    release()
    assert.equal(semaphore.getValue(), 1)
  })

  it('takes units that a thread releases without holding them off the holders, until none is left', async () => {
    const semaphore = make(5)
    const [first, second] = [worker(), worker()]
    await first.does(`${head} await semaphore.acquire(3)`)
    await second.does(`${head} semaphore.acquireSync(1); await semaphore.acquire(1)`)
    semaphore.release(4)
    await first.dies()
    await second.dies()
    const [before, release] = semaphore.tryAcquire(5)
    assert.deepEqual([before, release.abandoned], [5, true])
    release()
    const third = worker()
    await third.does(`${head} await semaphore.acquire(2)`)
    semaphore.release(3)
    await third.does(`${head} await semaphore.acquire(3)`)
    await third.dies()
    assert.equal(semaphore.getValue(), 5, 'the unit beyond the two was a new one')
  })

  it('a unit that a worker has consumed as a signal does not go back once another was put in', async () => {
    const semaphore = make(2)
    const dying = worker()
    await dying.does(`${head} await semaphore.acquire()`)
    semaphore.release()
    semaphore.tryAcquire()
    await dying.dies()
    const [before, release] = semaphore.tryAcquire()
    assert.deepEqual([before, release.abandoned], [1, false])
  })

  it('a permit whose waiter died before it saw it goes to the next waiter', async () => {
    for (let i = 0; i < 5; i++) {
      const semaphore = make(0)
      const dying = worker()
      await dying.begins(`${head} semaphore.acquire(); say(1); for (;;);`)
      const wait = semaphore.acquire()
      semaphore.release()
      await dying.dies()
      await within(8000, wait)
    }
  })

  it('a death while the value is at its maximum is handled', async () => {
    const semaphore = make(0)
    const dying = worker()
    await dying.begins(`${head} semaphore.acquire(); say(1); for (;;);`)
    semaphore.release()
    semaphore.setValue(2 ** 29 - 1)
    await dying.dies()
    assert.equal(semaphore.getValue(), 2 ** 29 - 1)
  })

  it('an object made in its buffer sees its waiters, and units that are out', async () => {
    const semaphore = new Semaphore(3, { shared: true })
    const [, release] = await semaphore.acquire(3)
    const waits = [1, 2].map((weight) => outcome(semaphore.acquire({ weight, timeout: 1e6 })))
    const { buffer } = semaphore
    const other = agent(buffer)
    const code = `const semaphore = (my.s ??= new Semaphore(3, { buffer: workerData }));`
    assert.equal(await other.does(`${code} return semaphore.getValue()`), 0)
    const theirs = other.does(`${code} await semaphore.acquire(); return semaphore.getValue()`)
    release()
    release()
    await settled()
    assert.ok(waits.every(({ state }) => state === 'fulfilled'))
    for (const wait of waits) wait.value[1]()
    assert.equal(await theirs, 2)
    await other.dies()
    assert.equal(semaphore.getValue(), 3)
  })

  it('never admits more than it has room for: sync and async, weights, limits', async function () {
    this.timeout(60_000)
    const semaphore = make(4)
    const seen = new Int32Array(new SharedArrayBuffer(12)) // [0] inside, [1] too many, [2] entries
    const visit = async (semaphore, seen, mayBlock, count) => {
      const inside = (weight) => {
        if (Atomics.add(seen, 0, weight) + weight > 4) Atomics.store(seen, 1, 1)
        Atomics.add(seen, 2, 1)
      }
      const task = async (t) => {
        for (let i = 0; i < count; i++) {
          const weight = ((i + t) % 4) + 1
          const limits = { priority: i % 3, timeout: i % 5 === 0 ? 1 : 10_000 }
          try {
            const isSync = mayBlock && t === 0
            const [, release] = isSync
              ? semaphore.acquireSync(weight, limits)
              : await semaphore.acquire(weight, limits)
            inside(weight)
            if (!isSync && i % 3 === 0) await new Promise(setImmediate)
            Atomics.sub(seen, 0, weight)
            release()
          } catch (error) {
            if (error.code !== 'ERR_LOCK_TIMEOUT') throw error
          }
          if (t === 0) await new Promise(setImmediate)
        }
      }
      await Promise.all(Array.from({ length: mayBlock ? 1 : 4 }, (_, t) => task(t)))
    }
    const other = [true, false, true].map((mayBlock) =>
      agent({ name, value, seen }).does(`${head}
        await (${visit})(semaphore, workerData.seen, ${mayBlock}, 400)`),
    )
    await Promise.all([...other, visit(semaphore, seen, false, 400)])
    assert.deepEqual([seen[0], seen[1], semaphore.getValue()], [0, 0, 4])
    assert.ok(seen[2] > 1000)
  })

  it('admits the waiters of one thread in order, whether another thread admits them or this one', async () => {
    const semaphore = make(0)
    const step = new Int32Array(new SharedArrayBuffer(4))
    const order = []
    const waits = ['first', 'second'].map((who) => semaphore.acquire().then(() => order.push(who)))
    await agent({ name, value, step }).begins(`${head}
      say(1)
      Atomics.wait(workerData.step, 0, 0)
      semaphore.release()
      Atomics.store(workerData.step, 0, 2)`)
    Atomics.store(step, 0, 1)
    Atomics.notify(step, 0)
    // In this turn nothing of another thread is read.
    while (Atomics.load(step, 0) === 1);
    semaphore.release()
    await Promise.all(waits)
    assert.deepEqual(order, ['first', 'second'])
  })

  it('does not count callers of waitForUnlock among the waiters that maxPending limits', async () => {
    const semaphore = make(1, { maxPending: 1 })
    const [, release] = await semaphore.acquire()
    const watchers = [semaphore.waitForUnlock(), semaphore.waitForUnlock()]
    const waits = semaphore.acquire()
    await assert.rejects(semaphore.acquire(), { code: 'ERR_LOCK_QUEUE_FULL' })
    release()
    await Promise.all(watchers)
    const [, last] = await waits
    const next = semaphore.acquire()
    last()
    await next
  })

  it('rejects a waiter whose beginning has called a listener that waits as well', async () => {
    const shown = await inChild(`
      const local = new Mutex()
      await local.acquire()
      let isMet = false
      process.on('newListener', (name) => {
        if (name !== 'beforeExit') return
        isMet = true
        local.acquire().catch(() => {})
      })
      const semaphore = new Semaphore(0, { shared: true })
      const waits = [semaphore.acquire(), semaphore.acquire()]
      semaphore.cancel()
      for (const one of waits) await one.catch(({ code }) => show(code))
      local.cancel()
      show(isMet)`)
    assert.deepEqual(shown, ['ERR_LOCK_CANCELED', 'ERR_LOCK_CANCELED', true])
  })
})
