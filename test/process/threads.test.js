'use strict'
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { Mutex } = require('../..')
const { inChild } = require('../helpers/children.js')
const { outcome, settled } = require('../helpers/keyed.js')
const { queued } = require('../helpers/promises.js')
const {
  assertFree,
  awaiting,
  blocking,
  broken,
  enterOnce,
  entries,
  heldByWorker,
  inside,
  racing,
  stop,
  waysIn,
  workerHead,
} = require('../helpers/thread_code.js')
const { exitOf, ready, startWorker } = require('../helpers/workers.js')

describe('threads', () => {
  let mutex
  let seen
  let workers
  beforeEach(() => {
    mutex = new Mutex({ shared: true })
    seen = new Int32Array(new SharedArrayBuffer(16))
    workers = []
  })
  afterEach(() => Promise.all(workers.map((worker) => worker.terminate())))

  const start = (code, more) => {
    const { buffer } = mutex
    const worker = startWorker(workerHead + code, { buffer, seen: seen.buffer, ...more })
    workers.push(worker)
    return worker
  }
  /** A worker that holds the mutex until it gets a message. */
  const holder = async () => {
    const worker = start(`
      mutex.lockSync()
      say('held')
      parentPort.once('message', () => mutex.unlock())`)
    await ready([worker])
    return worker
  }
  for (const [name, enter] of Object.entries(waysIn)) {
    it(`${name} waits for a worker that holds it by lockSync, and is woken`, async () => {
      const worker = await holder()
      const wait = outcome(enter(mutex))
      await settled()
      assert.equal(wait.state, 'pending')
      assert.equal(mutex.tryAcquire(), undefined)
      assert.throws(() => mutex.unlock(), { code: 'ERR_LOCK_NOT_HELD' })
      worker.postMessage('go')
      await exitOf(worker)
      while (wait.state === 'pending') await settled()
      assert.ok(mutex.isLocked())
      wait.value()
      await settled()
      await assertFree(mutex)
    })

    it(`${name} makes a worker wait, whether that blocks or awaits`, async () => {
      const leave = await enter(mutex)
      const both = ['mutex.lockSync()', 'await mutex.lock()'].map((way) =>
        start(`(async () => {
          say('soon')
          ${way}
          if (seen[1] !== 0) seen[2] = 1
          enterOnce(seen)
          mutex.unlock()
        })()`),
      )
      seen[inside] = 1
      await ready(both)
      await queued(mutex, 2)
      assert.equal(seen[entries], 0)
      seen[inside] = 0
      leave()
      await Promise.all(both.map(exitOf))
      assert.deepEqual([...seen], [2, 0, 0, 0])
      await assertFree(mutex)
    })
  }

  it('admits one at a time: workers that block and that await, many tasks each', async () => {
    for (const code of [blocking, awaiting, blocking, awaiting]) start(code)
    await ready(workers)
    let count = 0
    const task = async () => {
      while (seen[stop] === 0) {
        await mutex.runExclusive(() => enterOnce(seen))
        count++
        await settled()
      }
    }
    const tasks = Array.from({ length: 30 }, task)
    const counts = workers.map((worker) => once(worker, 'message'))
    await new Promise((resolve) => setTimeout(resolve, 1500))
    // A busy machine may need longer.
    while (Atomics.load(seen, entries) <= 1000) await settled()
    Atomics.store(seen, stop, 1)
    await Promise.all(tasks)
    for (const [theirs] of await Promise.all(counts)) count += theirs
    assert.deepEqual(
      [seen[inside], seen[broken], seen[entries]],
      [0, 0, count],
      'oracle: two inside, or one lost',
    )
    assert.ok(count > 1000, `${count} entries`)
    await assertFree(mutex)
  })

  it('timeouts and aborts that race with admissions lose nothing', async () => {
    start(racing, { timeout: 0.05 })
    start(racing, { timeout: Infinity })
    await ready(workers)
    let admitted = 0
    let gaveUp = 0
    const visit = async (options) => {
      try {
        const release = await mutex.acquire(options)
        enterOnce(seen)
        admitted++
        release()
      } catch (error) {
        if (error !== 'aborted' && error.code !== 'ERR_LOCK_TIMEOUT') throw error
        gaveUp++
      }
    }
    const end = performance.now() + 2000
    let visits = 0
    // A busy machine may need longer until both have happened often enough.
    while (performance.now() < end || admitted <= 100 || gaveUp <= 100) {
      const all = []
      for (let i = 0; i < 30; i++) {
        const controller = new AbortController()
        const { signal } = controller
        all.push(visit([{ timeout: 0 }, { timeout: i % 4 }, { signal }][i % 3]))
        if (i % 3 === 2) setImmediate(() => controller.abort('aborted'))
      }
      visits += all.length
      if (visits % 600 === 0) setImmediate(() => mutex.cancel('aborted'))
      await Promise.all(all)
    }
    const ends = workers.map((worker) => once(worker, 'message'))
    Atomics.store(seen, stop, 1)
    await Promise.all(ends)
    assert.equal(admitted + gaveUp, visits)
    assert.ok(admitted > 100 && gaveUp > 100, `${admitted} admitted, ${gaveUp} gave up`)
    assert.deepEqual([seen[inside], seen[broken]], [0, 0], 'oracle: two inside')
    await assertFree(mutex)
  })

  it('waitForUnlock resolves when a worker has unlocked', async () => {
    const worker = await holder()
    const wait = outcome(mutex.waitForUnlock({ timeout: 1e6 }))
    worker.postMessage('go')
    await exitOf(worker)
    while (wait.state === 'pending') await new Promise((resolve) => setTimeout(resolve, 1))
    assert.equal(wait.reason, undefined)
    assert.equal(mutex.isLocked(), false)
  })

  it('a releaser whose grant is over does nothing, even if another object shares the word', () => {
    const other = new Mutex({ buffer: mutex.buffer })
    const stale = mutex.tryAcquire()
    other.release()
    const release = other.tryAcquire()
    stale()
    assert.ok(other.isLocked())
    release()
    assert.equal(mutex.isLocked(), false)
  })

  it('an object with the same word in one thread admits waiters of another object', async () => {
    const other = new Mutex({ buffer: mutex.buffer })
    mutex.tryLock()
    const order = []
    const enter = async (lock, name) => {
      const release = await lock.acquire()
      order.push(name)
      release()
    }
    const all = [enter(other, 1), enter(mutex, 2), enter(other, 3)]
    other.unlock()
    await Promise.all(all)
    assert.deepEqual(order, [1, 2, 3])
    await assertFree(mutex)
  })
})

describe('Mutex: another object in its buffer while promises wait', () => {
  const count = 3000
  it('queues with them: no waiter is lost, in order, with priorities', async () => {
    const mutex = new Mutex({ shared: true })
    mutex.tryLock()
    const order = []
    const expected = []
    const all = Array.from({ length: count }, async (_, i) => {
      const priority = i % 3
      expected.push({ i, priority })
      const release = await mutex.acquire(priority)
      order.push(i)
      release()
    })
    const { buffer } = mutex
    assert.equal(mutex.buffer, buffer)
    assert.ok(mutex.isLocked())
    const other = new Mutex({ buffer })
    assert.equal(other.tryLock(), false)
    assert.deepEqual(order, [])
    const late = other.acquire(1).then((release) => {
      order.push('late')
      release()
    })
    mutex.unlock()
    await Promise.all([...all, late])
    const sorted = expected.sort((a, b) => b.priority - a.priority).map(({ i }) => i)
    sorted.splice(2 * (count / 3), 0, 'late')
    assert.deepEqual(order, sorted)
    assert.equal(other.isLocked(), false)
  })

  it('keeps their timeouts, signals and cancel', async () => {
    const mutex = new Mutex({ shared: true })
    const held = mutex.tryAcquire()
    const controller = new AbortController()
    const { signal } = controller
    const kinds = [{ timeout: 5 }, { signal }, { signal, timeout: 1e6 }, {}, { timeout: 1e6 }]
    const waits = kinds.map((options) => outcome(mutex.acquire(options)))
    const watcher = outcome(mutex.waitForUnlock())
    const gone = new AbortController()
    const first = outcome(mutex.acquire({ signal: gone.signal, priority: 1 }))
    gone.abort('gone')
    const other = new Mutex({ buffer: mutex.buffer })
    const more = outcome(other.acquire())
    while (waits[0].state === 'pending') await new Promise((resolve) => setTimeout(resolve, 1))
    assert.equal(first.reason, 'gone')
    assert.equal(waits[0].reason.code, 'ERR_LOCK_TIMEOUT')
    controller.abort('mine')
    await settled()
    assert.deepEqual([waits[1].reason, waits[2].reason], ['mine', 'mine'])
    assert.deepEqual([waits[3].state, waits[4].state], ['pending', 'pending'])
    held()
    await settled()
    assert.deepEqual(waits.map(({ state }) => state).slice(3), ['fulfilled', 'pending'])
    assert.equal(more.state, 'pending')
    other.cancel('all')
    await settled()
    assert.deepEqual([waits[4].reason, more.reason], ['all', 'all'])
    waits[3].value()
    await settled()
    assert.equal(other.isLocked(), false)
    assert.equal(watcher.state, 'fulfilled')
  })
})

describe('processes', () => {
  const granted = "mutex.acquire().then((release) => { show('granted'); release() })"
  const ends = {
    'is granted': [`${granted}; keptAlive().then(letGo)`, ['granted', 'exit']],
    'is cancelled': ["mutex.lock().catch(show); mutex.cancel('no')", ['no', 'exit']],
    'times out': [
      'mutex.lock({ timeout: 5 }).catch((e) => show(e.code))',
      ['ERR_LOCK_TIMEOUT', 'exit'],
    ],
    'times out, but not that beside it': [
      `mutex.lock({ timeout: 5 }).catch(keptAlive).then(letGo); ${granted}`,
      ['granted', 'exit'],
    ],
    'is not there': ['', ['exit']],
  }
  for (const [name, [code, expected]] of Object.entries(ends)) {
    it(`a wait for a worker keeps the process alive until it ${name}`, async () => {
      assert.deepEqual(await inChild(heldByWorker + code), expected)
    })
  }

  it('a wait that began before the mutex was shared keeps the process alive, too', async () => {
    const code = `
      const mutex = new Mutex({ shared: true })
      mutex.tryLock()
      mutex.acquire().then((release) => { show('granted'); release() })
      const worker = new Worker(\`
        const { parentPort, workerData } = require('node:worker_threads')
        const { Mutex } = require(\${JSON.stringify(entry)})
        const mutex = new Mutex({ buffer: workerData })
        mutex.acquire({ priority: 1 }).then((release) => parentPort.once('message', release))
        parentPort.postMessage('stands in line')\`, { eval: true, workerData: mutex.buffer })
      process.on('exit', () => show('exit'))
      worker.once('message', () => {
        // It is queued ahead of this thread's waiter, the only other one.
        mutex.unlock()
        worker.unref()
        keptAlive().then(() => worker.postMessage('release'))
      })`
    assert.deepEqual(await inChild(code), ['granted', 'exit'])
  })

  it('a wait for a mutex that no other thread shares does not keep the process alive', async () => {
    const code = `
      const mutex = new Mutex({ shared: true })
      mutex.tryLock()
      mutex.acquire().then(() => show('granted'))
      const locks = new KeyedMutex()
      locks.tryLock('a')
      locks.acquire('a').then(() => show('granted'))
      process.on('exit', (code) => show(code))`
    assert.deepEqual(await inChild(code), [0])
  })
})
