'use strict'
// State left by threads that end halfway: by name, by memory, in a condition.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const vm = require('node:vm')
const { AutoResetEvent, ConditionVariable, KeyedMutex, KeyedSemaphore, Mutex, Semaphore } =
  require('../..')
const { inChild } = require('../helpers/children.js')
const { outcome, settled } = require('../helpers/keyed.js')
const { startWorker } = require('../helpers/workers.js')

const head = `
  const { AutoResetEvent, ConditionVariable, KeyedSemaphore } =
    require(${JSON.stringify(require.resolve('../..'))})
  const say = (what) => parentPort.postMessage(what)
  const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  /** From here on the event loop does not turn: completions arrive, and are not read. */
  const stall = () => { say('stalled'); sleep(1e6) }
`
const stalled = 30

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

describe('a thread that ends before it reads its completions', () => {
  let workers
  beforeEach(() => {
    workers = []
  })
  afterEach(() => Promise.all(workers.map((worker) => worker.terminate())))

  const start = async (code, data) => {
    const worker = startWorker(head + code, data)
    workers.push(worker)
    await once(worker, 'message')
    await pause(stalled)
    return worker
  }
  const until = async (seen, ms = 8000) => {
    const end = performance.now() + ms
    while (seen.state === 'pending' && performance.now() < end) await settled()
    return seen.state
  }

  it('passes a signal on', async () => {
    const event = new AutoResetEvent({ shared: true })
    const worker = await start(
      'new AutoResetEvent({ buffer: workerData }).wait(); stall()',
      event.buffer,
    )
    event.signal()
    const next = outcome(event.wait())
    await worker.terminate()
    assert.equal(await until(next), 'fulfilled')
  })

  it('passes a notification on', async () => {
    const mutex = new Mutex({ shared: true })
    const condition = new ConditionVariable({ shared: true })
    const worker = await start(
      `const mutex = new Mutex({ buffer: workerData.mutex })
       mutex.lockSync()
       new ConditionVariable({ buffer: workerData.condition }).wait(mutex)
       stall()`,
      { mutex: mutex.buffer, condition: condition.buffer },
    )
    await mutex.lock()
    const next = outcome(condition.wait(mutex))
    await mutex.lock()
    condition.notifyOne()
    await pause(10) // past the worker's patience: it gets the mutex handed over
    mutex.unlock()
    await worker.terminate()
    assert.equal(await until(next), 'fulfilled')
    mutex.unlock()
  })

  it('passes a mutex on, not as abandoned: it never held it', async () => {
    const mutex = new Mutex({ shared: true })
    await mutex.lock()
    const worker = await start('new Mutex({ buffer: workerData }).lock(); stall()', mutex.buffer)
    mutex.unlock()
    await worker.terminate()
    const release = await mutex.acquire({ timeout: 8000 })
    assert.equal(release.abandoned, false)
    release()
  })

  it('tells the next holder of the death that it was to be told of', async () => {
    const mutex = new Mutex({ shared: true })
    const holder = await start(
      'new Mutex({ buffer: workerData }).lockSync(); stall()',
      mutex.buffer,
    )
    const late = await start('new Mutex({ buffer: workerData }).lock(); stall()', mutex.buffer)
    await holder.terminate()
    await late.terminate()
    const release = await mutex.acquire({ timeout: 8000 })
    assert.equal(release.abandoned, true)
    release()
  })

  it('does not end the process when others have put back all units', async () => {
    const [value] = await inChild(`
      const semaphore = new Semaphore(0, { shared: true })
      const worker = new Worker(\`
        const { parentPort, workerData } = require('node:worker_threads')
        const { Semaphore } = require(\${JSON.stringify(entry)})
        new Semaphore(0, { buffer: workerData }).acquire()
        parentPort.postMessage('stalled')
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)\`,
        { eval: true, workerData: semaphore.buffer })
      await require('node:events').once(worker, 'message')
      semaphore.release()
      semaphore.setValue(2 ** 29 - 1)
      await worker.terminate()
      show(semaphore.getValue())`)
    assert.equal(value, 2 ** 29 - 1)
  })
})

describe('a blocked thread that is to end', () => {
  it('ends even if it was notified and the mutex is held by the thread that waits for it', async () => {
    const said = await inChild(`
      const { ConditionVariable } = require(entry)
      const mutex = new Mutex({ shared: true })
      const condition = new ConditionVariable({ shared: true })
      const worker = new Worker(\`
        const { parentPort, workerData } = require('node:worker_threads')
        const { ConditionVariable, Mutex } = require(\${JSON.stringify(entry)})
        const mutex = new Mutex({ buffer: workerData.mutex })
        mutex.lockSync()
        parentPort.postMessage('waiting')
        new ConditionVariable({ buffer: workerData.condition }).waitSync(mutex)\`,
        { eval: true, workerData: { mutex: mutex.buffer, condition: condition.buffer } })
      await require('node:events').once(worker, 'message')
      await mutex.lock()
      condition.notifyOne()
      const guard = setTimeout(() => { show('hangs'); mutex.unlock() }, 5000)
      await worker.terminate()
      clearTimeout(guard)
      show('ended')`)
    assert.deepEqual(said, ['ended'])
  })

  it('is not one whose script had a time limit: its environment goes on', async () => {
    const mutex = new Mutex({ shared: true, allowBlockingMainThread: true })
    const semaphore = new Semaphore(1, { shared: true, allowBlockingMainThread: true })
    assert.ok(semaphore.buffer)
    const worker = startWorker(
      `new Mutex({ buffer: workerData }).lockSync(); parentPort.postMessage('held')
       setInterval(() => {}, 1000)`,
      mutex.buffer,
    )
    await once(worker, 'message')
    assert.throws(
      () => vm.runInNewContext('lock()', { lock: () => mutex.lockSync() }, { timeout: 60 }),
      {
        code: 'ERR_SCRIPT_EXECUTION_TIMEOUT',
      },
    )
    await worker.terminate()
    const [value, release] = semaphore.acquireSync()
    assert.equal(value, 1)
    release()
  })
})

describe('units held by a thread', () => {
  it('do not include units that others have put back for it', async () => {
    const map = new KeyedSemaphore(1, { name: 'shared_death: put back' })
    const worker = startWorker(
      `${head}
       const map = new KeyedSemaphore(1, { name: 'shared_death: put back' })
       const [, release] = map.tryAcquire('a')
       parentPort.once('message', () => { release(); say('released'); setInterval(() => {}, 1000) })
       say('held')`,
    )
    await once(worker, 'message')
    map.release('a')
    worker.postMessage('go')
    await once(worker, 'message')
    const [, release] = map.tryAcquire('a')
    await worker.terminate()
    assert.equal(map.getValue('a'), 0, 'we hold it')
    release()
  })

  it('do not include those of a key that another thread released, and a third one holds', async () => {
    const map = new KeyedSemaphore(1, { name: 'shared_death: released' })
    const worker = startWorker(
      `${head}
       const map = new KeyedSemaphore(1, { name: 'shared_death: released' })
       map.tryAcquire('a')
       setInterval(() => {}, 1000)
       say('held')`,
    )
    await once(worker, 'message')
    map.release('a')
    const [, release] = map.tryAcquire('a')
    await worker.terminate()
    assert.equal(map.tryAcquire('a'), undefined)
    release()
    assert.equal(map.getValue('a'), 1)
    assert.equal(map.size, 0)
  })

  it('are those it has acquired, even after setValue', async () => {
    const worker = startWorker(
      `const semaphore = new Semaphore(5, { shared: true })
       semaphore.setValue(2)
       parentPort.postMessage(semaphore.buffer)
       setInterval(() => {}, 1000)`,
    )
    const [buffer] = await once(worker, 'message')
    const semaphore = new Semaphore(5, { buffer })
    await worker.terminate()
    assert.equal(semaphore.getValue(), 2)
  })
})

describe('keys that threads share', () => {
  it('are apart, unpaired surrogates too', () => {
    const locks = new KeyedMutex({ name: 'shared_death: surrogates' })
    const keys = [
      '\ud800',
      '\udbff',
      '\udc00',
      '\ufffd',
      'a\ud800b',
      'a\ufffdb',
      '\u{1f3ab}',
      'a\0',
    ]
    for (const key of keys) assert.ok(locks.tryLock(key), JSON.stringify(key))
    assert.deepEqual(new Set(locks.keys()), new Set(keys))
    for (const key of keys) locks.unlock(key)
    assert.equal(locks.size, 0)
  })
})

describe('memory of the user', () => {
  it('is released when it holds no known lock any more', async function () {
    this.timeout(30_000)
    const [alive] = await inChild(
      `const refs = []
       for (let i = 0; i < 20; i++) {
         (() => {
           const buffer = new SharedArrayBuffer(1 << 20)
           refs.push(new WeakRef(buffer))
           new Mutex({ buffer })
         })()
       }
       for (let i = 0; i < 10; i++) { await collect(); await new Promise((r) => setTimeout(r, 10)) }
       show(refs.filter((ref) => ref.deref() !== undefined).length)`,
      '--expose-gc',
    )
    assert.equal(alive, 0)
  })
})
