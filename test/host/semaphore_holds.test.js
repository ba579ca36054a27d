'use strict'
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { mkdtempSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { Worker } = require('node:worker_threads')
const { KeyedSemaphore, Mutex, Semaphore } = require('../..')
const native = require('../../lib/addon/load.js')
const { freshName } = require('../helpers/agents.js')
const { removeDirectory, useHosts } = require('../helpers/hosts.js')

/** Longer than any test runs. */
const long = 600_000
const ifAvailable = true

describe('Holds of semaphores of scope host', function () {
  // The tests start processes.
  this.timeout(120_000)
  const hosts = useHosts()
  let directory
  before(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'boxoffice-test-'))
    // Only after all tests, because units rest there for longer than the tests run.
    process.once('exit', () => removeDirectory(directory))
  })
  const optionsOf = (name, times) => ({ scope: 'host', name, directory, ...times })
  const open = (value, name, times) => new Semaphore(value, optionsOf(name, times))
  /** A process with the semaphore `my.lock`. */
  async function startWith(value, name, times, kind = 'Semaphore') {
    const host = hosts.start()
    await host.does(
      `my.lock = new boxoffice.${kind}(${value}, ${JSON.stringify(optionsOf(name, times))})`,
    )
    return host
  }
  const tries = (host, weight = 1) =>
    host.does(`return (await my.lock.acquire(${weight}, { ifAvailable: true })) !== undefined`)

  for (const times of [{ maxHold: 60_000 }, { minHold: 20 }]) {
    it(`let a caller of waitForUnlock() pass, with ${JSON.stringify(times)}`, async () => {
      const semaphore = open(1, freshName(), times)
      const [, release] = await semaphore.acquire()
      const waits = [semaphore.waitForUnlock(), semaphore.acquire()]
      release()
      const [, [, next]] = await Promise.all(waits)
      next()
      await semaphore.onIdle()
    })
  }

  it('end by maxHold, though setValue() has left no room for their units', async () => {
    const semaphore = open(2, freshName(), { maxHold: 100 })
    const [, { signal }] = await semaphore.acquire()
    semaphore.setValue(2 ** 29 - 1)
    await semaphore.onIdle()
    assert.equal(signal.aborted, true)
    assert.equal(semaphore.getValue(), 2 ** 29 - 1)
  })

  describe('with a minHold', () => {
    it('keep their units from others, though they were released', async () => {
      const name = freshName()
      const times = { minHold: long }
      const semaphore = open(1, name, times)
      const other = await startWith(1, name, times)
      const [, release] = await semaphore.acquire()
      release()
      release()
      assert.equal(semaphore.getValue(), 0)
      assert.equal(semaphore.isLocked(), true)
      assert.equal(await tries(other), false)
      await semaphore.onIdle()
      assert.equal(await tries(other), false)
    })

    it('end so long after the grant, though they were released', async () => {
      const name = freshName()
      const times = { minHold: 500 }
      const semaphore = open(1, name, times)
      const other = await startWith(1, name, times)
      const start = performance.now()
      const [, release] = await semaphore.acquire()
      release()
      release()
      assert.equal(await other.does('return (await my.lock.acquire())[1].abandoned'), false)
      assert.ok(performance.now() - start >= 499)
    })

    it('keep no more than their own units', async () => {
      const name = freshName()
      const times = { minHold: long }
      const semaphore = open(3, name, times)
      const other = await startWith(3, name, times)
      await semaphore.runExclusive(() => {}, 2)
      assert.equal(await tries(other, 2), false)
      assert.equal(await tries(other, 1), true)
      assert.equal(semaphore.tryAcquire(), undefined)
    })

    it('let waiters time out and be aborted meanwhile', async () => {
      const semaphore = open(1, freshName(), { minHold: long })
      const fail = async () => {
        throw new Error('no mails today')
      }
      await assert.rejects(semaphore.runExclusive(fail), { message: 'no mails today' })
      await assert.rejects(semaphore.acquire(1, { timeout: 10 }), { code: 'ERR_LOCK_TIMEOUT' })
      const controller = new AbortController()
      const waiting = semaphore.acquire(1, { signal: controller.signal })
      controller.abort(new Error('enough'))
      await assert.rejects(waiting, { message: 'enough' })
      assert.equal(semaphore.snapshot().waiting, 0)
    })

    it('keep units from others after their holder was killed, until so long after its grant', async () => {
      const name = freshName()
      const times = { minHold: 2000 }
      const semaphore = open(2, name, times)
      const start = performance.now()
      const other = await startWith(2, name, times)
      await other.does('await my.lock.acquire(2)')
      const told = []
      const job = (_, { abandoned }) => {
        assert.ok(performance.now() - start >= 1999)
        told.push(abandoned)
      }
      const both = [semaphore.runExclusive(job, 2), semaphore.runExclusive(job)]
      await other.dies()
      await Promise.all(both)
      assert.deepEqual(told, [true, false])
    })

    /** A worker acquires the one unit of a semaphore with these options, and is terminated. */
    async function holdAndTerminate(options) {
      const code = `const { parentPort, workerData } = require('node:worker_threads')
        const { Semaphore } = require(workerData.entry)
        globalThis.semaphore = new Semaphore(1, workerData.options)
        semaphore.acquire().then(() => parentPort.postMessage('held'))
        setInterval(() => {}, 1000)`
      const workerData = { entry: require.resolve('../..'), options }
      const worker = new Worker(code, { eval: true, workerData })
      await once(worker, 'message')
      await worker.terminate()
    }

    it('keep units from others after their thread was terminated', async () => {
      const options = optionsOf(freshName(), { minHold: long })
      await holdAndTerminate(options)
      const semaphore = new Semaphore(1, options)
      assert.equal(await semaphore.acquire(1, { ifAvailable }), undefined)
    })

    it('end so long after the grant to a thread that was terminated', async () => {
      const options = optionsOf(freshName(), { minHold: 2000 })
      const start = performance.now()
      await holdAndTerminate(options)
      const [, { abandoned }] = await new Semaphore(1, options).acquire()
      assert.ok(performance.now() - start >= 1999)
      assert.equal(abandoned, true)
    })

    it('are not reported as lost with a thread that had released them', async () => {
      const options = optionsOf(freshName(), { minHold: 2000 })
      const start = performance.now()
      const code = `const { workerData } = require('node:worker_threads')
        const { Semaphore } = require(workerData.entry)
        new Semaphore(1, workerData.options).runExclusive(() => {})`
      const workerData = { entry: require.resolve('../..'), options }
      await once(new Worker(code, { eval: true, workerData }), 'exit')
      const [, { abandoned }] = await new Semaphore(1, options).acquire()
      assert.ok(performance.now() - start >= 1999)
      assert.equal(abandoned, false)
    })

    it('report a death though other units of the process rest', async () => {
      const name = freshName()
      const times = { minHold: 300, maxHold: 600 }
      const other = await startWith(2, name, times)
      // One unit is lost by its maxHold while the other one rests.
      await other.does(`
        const [, { signal }] = await my.lock.acquire()
        await new Promise((resolve) => setTimeout(resolve, 450))
        await my.lock.runExclusive(() => {})
        if (!signal.aborted) await require('node:events').once(signal, 'abort')
        await my.lock.acquire(2)`)
      await other.dies()
      const [, { abandoned }] = await open(2, name, times).acquire()
      assert.equal(abandoned, true)
    })

    it('report a death with a unit that is free before those of the dead holder', async () => {
      const name = freshName()
      const times = { minHold: 1500 }
      // Opened before the mutex, which therefore hears of the death later.
      const semaphore = open(3, name, times)
      const mutex = new Mutex(optionsOf(`${name} mutex`))
      const other = await startWith(3, name, times)
      await other.does(
        `my.mutex = new boxoffice.Mutex(${JSON.stringify(optionsOf(`${name} mutex`))})
        await my.mutex.lock()
        await my.lock.acquire(2)`,
      )
      const isHeard = mutex.acquire()
      await other.dies()
      const start = performance.now()
      await isHeard
      let ticket = await semaphore.acquire()
      assert.ok(performance.now() - start < 1400)
      assert.equal(ticket[1].abandoned, true)
      ticket = await semaphore.acquire()
      assert.equal(ticket[1].abandoned, false)
    })

    it('keep a caller that meets the units of a dead holder pending', async () => {
      const name = freshName()
      const times = { minHold: 1500 }
      const semaphore = new Semaphore(1, { ...optionsOf(name, times), maxPending: 1 })
      const other = await startWith(1, name, times)
      await other.does('await my.lock.acquire()')
      const order = []
      const acquired = semaphore.acquire().then(([, release]) => {
        order.push('acquired')
        release()
      })
      const closed = semaphore.close().then(() => order.push('closed'))
      await other.dies()
      await Promise.all([acquired, closed])
      assert.deepEqual(order, ['acquired', 'closed'])
    })

    it('keep a dead holder from none but its own units', async () => {
      const name = freshName()
      const times = { minHold: long }
      const semaphore = open(3, name, times)
      const other = await startWith(3, name, times)
      await other.does('await my.lock.acquire(2)')
      await other.dies()
      assert.equal(await semaphore.acquire(2, { ifAvailable }), undefined)
      assert.equal(semaphore.tryAcquire(2), undefined)
      assert.equal((await semaphore.tryRunExclusive(() => {}, 2)).ran, false)
      const limited = semaphore.limit(() => 'ran', { weight: 2, ifAvailable })
      assert.equal(await limited(), undefined)
      const late = { code: 'ERR_LOCK_TIMEOUT' }
      await assert.rejects(
        semaphore.map([1], () => {}, { weight: 2, timeout: 1 }),
        late,
      )
      assert.notEqual(await semaphore.acquire(1, { ifAvailable }), undefined)
      assert.equal(semaphore.getValue(), 0)
      const third = await startWith(3, name, times)
      assert.equal(await tries(third), false)
    })

    it('keep the units of a second holder that dies while it pays for the first', async () => {
      const name = freshName()
      const times = { minHold: long }
      const first = await startWith(1, name, times)
      await first.does('await my.lock.acquire()')
      await first.dies()
      const second = await startWith(1, name, times)
      assert.equal(await tries(second), false)
      await second.dies()
      assert.equal(await open(1, name, times).acquire(1, { ifAvailable }), undefined)
    })

    it('end so long after the grant, though a second holder has died that paid for the first', async () => {
      const name = freshName()
      const times = { minHold: 3000 }
      const start = performance.now()
      const [first, second] = [await startWith(1, name, times), await startWith(1, name, times)]
      await first.does('await my.lock.acquire()')
      await first.dies()
      const hasTried = await tries(second)
      // On a busy machine the hold may be over by then, and the second process has its own.
      if (performance.now() - start < 3000) assert.equal(hasTried, false)
      await second.dies()
      const [, { abandoned }] = await open(1, name, times).acquire()
      assert.ok(performance.now() - start >= 2999)
      assert.equal(abandoned, true)
    })

    it('let a caller that meets the units of a dead holder time out', async () => {
      const name = freshName()
      const times = { minHold: long }
      const other = await startWith(1, name, times)
      await other.does('await my.lock.acquire()')
      await other.dies()
      const late = { code: 'ERR_LOCK_TIMEOUT', message: /within 200 ms/ }
      await assert.rejects(open(1, name, times).acquire(1, { timeout: 200 }), late)
    })

    it('are over for the next one after a death long ago', async () => {
      const name = freshName()
      const times = { minHold: 200 }
      const other = await startWith(1, name, times)
      await other.does('await my.lock.runExclusive(() => {}); my.lock = undefined')
      await other.dies()
      await new Promise((resolve) => setTimeout(resolve, 250))
      const ticket = await open(1, name, times).acquire(1, { ifAvailable })
      assert.notEqual(ticket, undefined)
    })

    it('are not over with those of a former dead holder, though as many units are owed', async () => {
      const name = freshName()
      const other = await startWith(1, name, { minHold: 100 })
      await other.does('await my.lock.acquire()')
      await other.dies()
      const semaphore = open(1, name, { minHold: long })
      await new Promise((resolve) => setTimeout(resolve, 200))
      const { compareExchange } = Atomics
      const { semaphoreOwed, semaphoreRest } = native.layout.host
      // Meanwhile another process pays for the unit, and a third one dies with one.
      Atomics.compareExchange = (words, at, ...rest) => {
        if (words instanceof Int32Array && at === semaphoreOwed) {
          Atomics.compareExchange = compareExchange
          const end = BigInt(Math.ceil(native.clock.now() + long))
          new BigInt64Array(words.buffer, 4 * semaphoreRest, 1)[0] = end
        }
        return compareExchange(words, at, ...rest)
      }
      try {
        assert.equal(await semaphore.acquire(1, { ifAvailable }), undefined)
      } finally {
        Atomics.compareExchange = compareExchange
      }
    })

    it('keep others out after the holder let go and exited, which is no death', async () => {
      const name = freshName()
      const times = { minHold: 2000 }
      const semaphore = open(1, name, times)
      const start = performance.now()
      const other = await startWith(1, name, times)
      other.does('await my.lock.runExclusive(() => {}); process.exit()')
      await other.ends()
      assert.equal((await semaphore.acquire())[1].abandoned, false)
      assert.ok(performance.now() - start >= 1999)
    })

    it('begin by no grant that no caller has had', async () => {
      const name = freshName()
      const semaphore = open(1, name, { minHold: long })
      await semaphore.waitForUnlock()
      assert.notEqual(await semaphore.acquire(1, { ifAvailable }), undefined)
    })

    it('are those of a key', async () => {
      const keyed = new KeyedSemaphore(1, optionsOf(freshName(), { minHold: long }))
      await keyed.runExclusive('x', () => {})
      assert.equal(await keyed.acquire('x', 1, { ifAvailable }), undefined)
      assert.notEqual(await keyed.acquire('y', 1, { ifAvailable }), undefined)
    })

    it('of a key leave none behind', async () => {
      const keyed = new KeyedSemaphore(1, optionsOf(freshName(), { minHold: 300 }))
      const other = keyed.acquire('y')
      await keyed.runExclusive('x', () => {})
      const [, release] = await other
      release()
      await keyed.runExclusive('x', () => {})
      while (keyed.size > 0) await new Promise((resolve) => setTimeout(resolve, 10))
    })

    it('of a key leave none behind when their process ends before', async () => {
      const name = freshName()
      // As many keys as there is room for.
      const times = { minHold: 1000, capacity: 32 }
      const keyed = new KeyedSemaphore(1, optionsOf(name, times))
      const other = await startWith(1, name, times, 'KeyedSemaphore')
      other.does(`for (let key = 0; key < 64; key++) {
          await my.lock.runExclusive(key, () => {})
        }
        process.exit()`)
      await other.ends()
      while (keyed.size > 0) await new Promise((resolve) => setTimeout(resolve, 10))
      for (let key = 100; key < 164; key++) {
        assert.equal((await keyed.acquire(key, 1, { ifAvailable }))[1].abandoned, false)
      }
    })

    it('begin by none of several keys that were not all available', async () => {
      const name = freshName()
      const keyed = new KeyedSemaphore(1, optionsOf(name, { minHold: long }))
      const other = await startWith(1, name, { minHold: long }, 'KeyedSemaphore')
      await other.does("await my.lock.acquire('y')")
      assert.equal(await keyed.acquire(['x', 'y'], 1, { ifAvailable }), undefined)
      assert.notEqual(await keyed.acquire('x', 1, { ifAvailable }), undefined)
    })

    it('of a key outlast its holder, and end', async () => {
      const names = { [long]: freshName(), 2000: freshName() }
      const afterExit = async (minHold) => {
        const other = await startWith(1, names[minHold], { minHold }, 'KeyedSemaphore')
        other.does("await my.lock.runExclusive('x', () => {}); process.exit()")
        await other.ends()
        return new KeyedSemaphore(1, optionsOf(names[minHold], { minHold }))
      }
      assert.equal(await (await afterExit(long)).acquire('x', 1, { ifAvailable }), undefined)
      const start = performance.now()
      await (await afterExit(2000)).acquire('x')
      assert.ok(performance.now() - start >= 1999)
    })
  })

  describe('with a maxHold', () => {
    it('end by their signal before the next caller is in, who is told', async () => {
      const semaphore = open(1, freshName(), { maxHold: 150 })
      const order = []
      const [, release] = await semaphore.acquire()
      release.signal.addEventListener('abort', () => order.push('lost'))
      const [, next] = await semaphore.acquire()
      order.push('next')
      assert.deepEqual(order, ['lost', 'next'])
      assert.equal(release.signal.reason.code, 'ERR_LOCK_LOST')
      assert.match(release.signal.reason.message, /maxHold, 150 ms/)
      assert.equal(next.abandoned, true)
      assert.ok(next.fencingToken > 0n)
      release()
      assert.equal(semaphore.getValue(), 0)
      next()
      assert.equal(semaphore.getValue(), 1)
      assert.equal(next.signal.aborted, true)
    })

    it('end for a waiter of another process, each by itself', async () => {
      const name = freshName()
      const times = { maxHold: 2000 }
      const semaphore = open(2, name, times)
      const other = await startWith(2, name, times)
      const [, lost] = await semaphore.acquire()
      const [, kept] = await semaphore.acquire()
      kept()
      assert.equal(await other.does('return (await my.lock.acquire(2))[1].abandoned'), true)
      assert.equal(lost.signal.reason.code, 'ERR_LOCK_LOST')
      assert.equal(kept.signal.reason.message.includes('is over'), true)
    })

    it('tell callbacks, whose results come all the same', async () => {
      const semaphore = open(1, freshName(), { maxHold: 150 })
      const result = await semaphore.runExclusive(async (_, { signal }) => {
        await once(signal, 'abort')
        return signal.reason.code
      })
      assert.equal(result, 'ERR_LOCK_LOST')
      assert.equal(semaphore.getValue(), 1)
    })
  })

  it('have the same times for all objects of a thread', () => {
    const name = freshName()
    const one = open(1, name, { minHold: 100 })
    for (const times of [{ minHold: 200 }, {}, { minHold: 100, maxHold: 200 }]) {
      const mismatch = { code: 'ERR_LOCK_MISMATCH', message: /construct it alike/ }
      assert.throws(() => open(1, name, times), mismatch)
    }
    assert.ok(one)
  })

  it('are refused by methods that block, and by release() without a Releaser', () => {
    const options = { ...optionsOf(freshName(), { maxHold: 1000 }), allowBlockingMainThread: true }
    const semaphore = new Semaphore(1, options)
    const unsupported = { code: 'ERR_LOCK_UNSUPPORTED', message: /returns a promise|Releaser/ }
    assert.throws(() => semaphore.acquireSync(), unsupported)
    assert.throws(() => semaphore.runExclusiveSync(() => {}), unsupported)
    assert.throws(() => semaphore.release(), unsupported)
    assert.equal(semaphore.getValue(), 1)
  })
})
