'use strict'
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { mkdtempSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const boxoffice = require('../..')
const { freshName, within } = require('../helpers/agents.js')
const { removeDirectory, useHosts } = require('../helpers/hosts.js')
const { run } = require('../helpers/processes.js')
const { turn } = require('../helpers/promises.js')

const { KeyedMutex, KeyedRWLock, KeyedSemaphore, Mutex, RecursiveMutex } = boxoffice
const { RWLock, Semaphore } = boxoffice

/** Longer than any test runs. */
const long = 600_000
const ifAvailable = true
const entry = require.resolve('../..')

describe('Holds of scope host', function () {
  // The tests start processes.
  this.timeout(120_000)
  const hosts = useHosts()
  let directory
  before(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'boxoffice-test-'))
    // Only after all tests, because locks rest there for longer than the tests run.
    process.once('exit', () => removeDirectory(directory))
  })
  const optionsOf = (name, times) => ({
    scope: 'host',
    name,
    directory,
    ...times,
  })
  const open = (name, times, Class = Mutex) => new Class(optionsOf(name, times))
  /** A process with the lock `my.lock`, and the results of its methods and Releasers. */
  async function startWith(name, times, kind = 'Mutex', options = {}) {
    const host = hosts.start({}, options)
    await host.does(
      `my.lock = new boxoffice.${kind}({ scope: 'host', ...${JSON.stringify({ name, directory, ...times })} })`,
    )
    return host
  }
  const tries = (host) =>
    host.does('return (await my.lock.acquire({ ifAvailable: true })) !== undefined')

  describe('with a minHold', () => {
    it('keep other callers out until its end, even after a release', async () => {
      const name = freshName()
      const times = { minHold: 300 }
      const mutex = open(name, times)
      const other = await startWith(name, times)
      const start = performance.now()
      ;(await mutex.acquire())()
      const release = await mutex.acquire()
      assert.ok(performance.now() - start >= 299)
      assert.equal(release.abandoned, false)
      release()
      assert.equal(await other.does('return (await my.lock.acquire()).abandoned'), false)
      assert.ok(performance.now() - start >= 599)
    })

    it('keep out callers of all threads and processes', async () => {
      const name = freshName()
      const mutex = open(name, { minHold: long })
      const other = await startWith(name, { minHold: long })
      ;(await mutex.acquire())()
      assert.equal(await mutex.acquire({ ifAvailable }), undefined)
      assert.equal(await open(name, { minHold: long }).acquire({ ifAvailable }), undefined)
      assert.equal(mutex.tryLock(), false)
      assert.equal(mutex.tryAcquire(), undefined)
      assert.equal(mutex.isLocked(), true)
      assert.equal(await tries(other), false)
      const plain = await startWith(name)
      assert.equal(await tries(plain), false)
    })

    it('end at once for the holder, whose Releaser and release() do nothing more', async () => {
      const mutex = open(freshName(), { minHold: long })
      const release = await mutex.acquire()
      release()
      release()
      mutex.release()
      assert.throws(() => mutex.unlock(), { code: 'ERR_LOCK_NOT_HELD' })
      await mutex.onIdle()
      await mutex.close()
      await assert.rejects(mutex.acquire(), { code: 'ERR_LOCK_CLOSED' })
    })

    it('let waiters time out and be aborted meanwhile', async () => {
      const mutex = open(freshName(), { minHold: long })
      await mutex.runExclusive(() => {})
      await assert.rejects(mutex.acquire({ timeout: 10 }), { code: 'ERR_LOCK_TIMEOUT' })
      const controller = new AbortController()
      const waiting = mutex.acquire({ signal: controller.signal })
      controller.abort(new Error('enough'))
      await assert.rejects(waiting, { message: 'enough' })
      assert.deepEqual(mutex.snapshot().waiting, 0)
    })

    it('keep other callers out after a callback that throws', async () => {
      const mutex = open(freshName(), { minHold: long })
      const fail = async () => {
        throw new Error('no mails today')
      }
      await assert.rejects(mutex.runExclusive(fail), { message: 'no mails today' })
      assert.equal(await mutex.runExclusive(fail, { ifAvailable }), undefined)
    })

    it('keep other callers out after the holder was killed, until minHold after its grant', async () => {
      const name = freshName()
      const times = { minHold: 2000 }
      const mutex = open(name, times)
      const other = await startWith(name, times)
      const start = performance.now()
      await other.does('await my.lock.lock()')
      await other.dies()
      const { abandoned } = await mutex.acquire()
      assert.ok(performance.now() - start >= 1999)
      assert.equal(abandoned, true)
    })

    it('keep out a caller that finds the lock of a dead holder, and its waiters', async () => {
      const name = freshName()
      const times = { minHold: long }
      const mutex = open(name, times)
      const other = await startWith(name, times)
      await other.does('await my.lock.lock()')
      const controller = new AbortController()
      const waiting = mutex.acquire({ signal: controller.signal })
      await other.dies()
      while (!mutex.snapshot().holderPids.includes(process.pid)) await new Promise(setImmediate)
      assert.equal(await mutex.acquire({ ifAvailable }), undefined)
      const third = await startWith(name, times)
      assert.equal(await tries(third), false)
      controller.abort(new Error('enough'))
      await assert.rejects(waiting, { message: 'enough' })
      assert.equal(await mutex.acquire({ ifAvailable }), undefined)
    })

    it('keep other callers out after the holder released and exited, which is not reported as a death', async () => {
      const name = freshName()
      const times = { minHold: 2000 }
      const mutex = open(name, times)
      const other = await startWith(name, times)
      const start = performance.now()
      other.does('await my.lock.runExclusive(() => {}); process.exit()')
      await other.ends()
      assert.equal((await mutex.acquire()).abandoned, false)
      assert.ok(performance.now() - start >= 1999)
    })

    it('last as long as they do, wherever the clock of the day is set meanwhile', async () => {
      const name = freshName()
      const times = { minHold: 3000 }
      const mutex = open(name, times)
      const isLate = 'data:text/javascript,const real=Date.now;Date.now=()=>real()-3600000'
      const other = await startWith(name, times, 'Mutex', { execArgv: ['--import', isLate] })
      assert.ok((await other.does('return Date.now()')) < Date.now() - 3_000_000)
      const start = performance.now()
      await other.does('await my.lock.lock()')
      await other.dies()
      assert.equal((await mutex.acquire()).abandoned, true)
      assert.ok(performance.now() - start >= 2999)
    })

    it('keep out no waiter of their thread for longer than that', async () => {
      const minHold = 1000
      const mutex = open(freshName(), { minHold })
      // Which of the two comes first is the same on a machine that stands still.
      const order = []
      let timer
      const hold = async () => {
        order.push('held')
        clearTimeout(timer)
        await new Promise((resolve) => setTimeout(resolve, minHold + 50))
        timer = setTimeout(() => order.push('minHold after the release'), minHold - 1)
      }
      await Promise.all([mutex.runExclusive(hold), mutex.runExclusive(hold)])
      clearTimeout(timer)
      assert.deepEqual(order, ['held', 'held'])
    })

    it('keep no process alive after its release', async () => {
      const options = JSON.stringify(optionsOf(freshName(), { minHold: long }))
      const { code } = await run([
        '-e',
        `new (require(${JSON.stringify(entry)}).Mutex)(${options}).runExclusive(() => {})`,
      ])
      assert.equal(code, 0)
    })

    it('begin only with a grant that reaches a caller', async () => {
      const name = freshName()
      const mutex = open(name, { minHold: long })
      await mutex.waitForUnlock()
      const other = await startWith(name)
      await other.does('await my.lock.lock()')
      const passed = mutex.waitForUnlock()
      await other.does('my.lock.unlock()')
      await passed
      assert.notEqual(await mutex.acquire({ ifAvailable }), undefined)
    })

    it('apply to each key, and do not begin when not all of several keys were available', async () => {
      const name = freshName()
      const keyed = open(name, { minHold: long }, KeyedMutex)
      const other = await startWith(name, { minHold: long }, 'KeyedMutex')
      await other.does("await my.lock.lock('y')")
      assert.equal(await keyed.acquire(['x', 'y'], { ifAvailable }), undefined)
      const release = await keyed.acquire('x', { ifAvailable })
      release()
      assert.equal(await keyed.acquire('x', { ifAvailable }), undefined)
      assert.notEqual(await keyed.acquire('z', { ifAvailable }), undefined)
    })

    it('are not awaited by onIdle() and close(): no caller has the lock', async () => {
      const options = () => optionsOf(freshName(), { minHold: long })
      const singles = [Mutex, RecursiveMutex, RWLock].map((Class) => new Class(options()))
      const keyed = [KeyedMutex, KeyedRWLock].map((Class) => new Class(options()))
      singles.push(new Semaphore(1, options()))
      keyed.push(new KeyedSemaphore(1, options()))
      for (const lock of [...singles, ...keyed]) {
        const key = singles.includes(lock) ? [] : ['x']
        let end
        const running = lock.runExclusive(...key, () => new Promise((resolve) => (end = resolve)))
        while (end === undefined) await null
        const closing = lock.close()
        end()
        await within(5000, Promise.all([running, lock.onIdle(), closing]))
        await within(5000, lock.onIdle())
      }
    })

    it('leave no key behind', async () => {
      const keyed = open(freshName(), { minHold: 300 }, KeyedMutex)
      await keyed.runExclusive('x', () => {})
      assert.equal(keyed.size, 1)
      await keyed.runExclusive('x', () => {})
      while (keyed.size > 0) await new Promise((resolve) => setTimeout(resolve, 10))
    })

    it('leave no key behind when the process ends before minHold', async () => {
      const name = freshName()
      // As many keys as there is room for.
      const times = { minHold: 1000, capacity: 32 }
      const keyed = open(name, times, KeyedMutex)
      const takeAll = 'for (let key = 0; key < 64; key++) await my.lock.runExclusive(key, () => {})'
      const other = await startWith(name, times, 'KeyedMutex')
      other.does(`${takeAll}; process.exit()`)
      await other.ends()
      while (keyed.size > 0) await new Promise((resolve) => setTimeout(resolve, 10))
      for (let key = 100; key < 164; key++) {
        assert.equal((await keyed.acquire(key, { ifAvailable })).abandoned, false)
      }
    })

    it('report a death before the release, however long ago', async () => {
      const name = freshName()
      const times = { minHold: 100 }
      const keyed = open(name, times, KeyedMutex)
      const other = await startWith(name, times, 'KeyedMutex')
      await other.does("await my.lock.acquire('x')")
      await other.dies()
      await new Promise((resolve) => setTimeout(resolve, 200))
      assert.equal(keyed.size, 1)
      assert.equal((await keyed.acquire('x')).abandoned, true)
    })

    it('apply to the outermost hold of a RecursiveMutex', async () => {
      const mutex = open(freshName(), { minHold: long }, RecursiveMutex)
      const inner = await mutex.runExclusive(() => mutex.runExclusive(() => 'inner'))
      assert.equal(inner, 'inner')
      assert.equal(await mutex.runExclusive(() => 'other', { ifAvailable }), undefined)
    })

    it('let one of many processes run a job that all of them start', async () => {
      const name = freshName()
      const all = await Promise.all(
        Array.from({ length: 4 }, () => startWith(name, { minHold: long })),
      )
      const job = "return my.lock.runExclusive(() => 'ran', { ifAvailable: true })"
      const first = await Promise.all(all.slice(0, 3).map((host) => host.does(job)))
      const late = await all[3].does(job)
      const ran = [...first, late].filter((value) => value === 'ran')
      assert.equal(ran.length, 1)
    })
  })

  describe('with a maxHold', () => {
    it('end a wait for several keys as soon as one of them is lost', async () => {
      const name = freshName()
      const keyed = open(name, { maxHold: 200 }, KeyedMutex)
      const other = await startWith(name, { maxHold: long }, 'KeyedMutex')
      await other.does("await my.lock.lock('b')")
      for (const acquire of [
        () => keyed.acquire(['a', 'b']),
        () => keyed.acquire(['a', 'b'], { timeout: long }),
        () => keyed.runExclusive(['a', 'b'], assert.fail, { signal: new AbortController().signal }),
      ])
        await assert.rejects(acquire(), { code: 'ERR_LOCK_LOST', message: /"a"/ })
      assert.deepEqual([keyed.isLocked('a'), keyed.isLocked('b')], [false, true])
      await other.does("my.lock.unlock('b')")
      ;(await keyed.acquire(['a', 'b']))()
    })

    it('abort their signal before the next caller is admitted and told', async () => {
      const mutex = open(freshName(), { maxHold: 150 })
      const order = []
      const release = await mutex.acquire()
      release.signal.addEventListener('abort', () => order.push('lost'))
      const next = await mutex.acquire()
      order.push('next')
      assert.deepEqual(order, ['lost', 'next'])
      const { code, message } = release.signal.reason
      assert.equal(code, 'ERR_LOCK_LOST')
      assert.match(message, /maxHold, 150 ms/)
      assert.equal(next.abandoned, true)
      release()
      assert.equal(mutex.isLocked(), true)
      next()
      assert.equal(mutex.isLocked(), false)
      assert.equal(next.signal.aborted, true)
    })

    it('end for a waiter of another process', async () => {
      const name = freshName()
      const mutex = open(name, { maxHold: 2000 })
      const other = await startWith(name)
      const { signal } = await mutex.acquire()
      const next = await other.does(`
        const waiting = my.lock.acquire()
        my.abandoned = waiting.then((release) => release.abandoned)
        return my.lock.snapshot().waiting`)
      assert.equal(next, 1, 'the hold was over before the other process waited')
      assert.equal(await other.does('return my.abandoned'), true)
      assert.equal(signal.reason.code, 'ERR_LOCK_LOST')
    })

    it('keep a process alive while its callers wait for their end', async () => {
      const options = JSON.stringify(optionsOf(freshName(), { maxHold: 150 }))
      const { code, shown } = await run([
        '-e',
        `const mutex = new (require(${JSON.stringify(entry)}).Mutex)(${options})
        for (let i = 0; i < 4; i++) mutex.acquire().then(() => console.log(i))`,
      ])
      assert.deepEqual([code, shown], [0, [0, 1, 2, 3]])
    })

    /** How a process ends that runs `code` with `lock`, which `make` constructs with a maxHold. */
    const endWith = (make, code) =>
      run([
        '-e',
        `const boxoffice = require(${JSON.stringify(entry)})
        const options = ${JSON.stringify(optionsOf(freshName(), { maxHold: 150 }))}
        const lock = ${make.replace('new ', 'new boxoffice.')}
        ${code}`,
      ])

    it('keep a process alive for each kind of lock, whose holders never release', async () => {
      const waits = {
        'new Mutex(options)': 'lock.runExclusive(() => held(i))',
        'new RecursiveMutex(options)': 'lock.runExclusive(() => held(i))',
        'new KeyedMutex(options)': 'lock.acquire("a").then(() => held(i))',
        'new Semaphore(1, options)': 'lock.acquire().then(() => held(i))',
        'new KeyedSemaphore(1, options)': 'lock.acquire("a").then(() => held(i))',
        'new RWLock(options)': 'lock[i % 2 ? "acquireRead" : "acquireWrite"]().then(() => held(i))',
        'new KeyedRWLock(options)': 'lock.acquireWrite("a").then(() => held(i))',
        'new LockManager(options)': 'lock.request("a", () => held(i))',
      }
      const outcomes = Object.entries(waits).map(async ([make, wait]) => {
        const { code, shown } = await endWith(
          make,
          `const held = (i) => { console.log(i); return new Promise(() => {}) }
          for (let i = 0; i < 3; i++) ${wait}`,
        )
        assert.deepEqual([code, shown], [0, [0, 1, 2]], make)
      })
      await Promise.all(outcomes)
    })

    it('keep a process alive while callers wait inside a hold whose callback never ends', async () => {
      const makes = {
        'new RecursiveMutex(options)': '(work) => lock.runExclusive(work)',
        'new KeyedMutex({ ...options, reentrant: true })': '(work) => lock.runExclusive("a", work)',
      }
      const outcomes = Object.entries(makes).map(async ([make, enter]) => {
        const { code, shown } = await endWith(
          make,
          `const enter = ${enter}
          const stuck = new Promise(() => {})
          enter(() => {
            enter(() => stuck)
            enter(() => console.log(1))
            return stuck
          })`,
        )
        assert.deepEqual([code, shown], [0, [1]], make)
      })
      await Promise.all(outcomes)
    })

    it('abort the signal of callbacks, whose results are returned all the same', async () => {
      const mutex = open(freshName(), { maxHold: 150 })
      const result = await mutex.runExclusive(async ({ signal }) => {
        await once(signal, 'abort')
        return signal.reason.code
      })
      assert.equal(result, 'ERR_LOCK_LOST')
      assert.equal(mutex.isLocked(), false)
    })

    it('end for all callers of a RecursiveMutex, while the callback of the hold goes on', async () => {
      const mutex = open(freshName(), { maxHold: 150 }, RecursiveMutex)
      let begins
      const hasBegun = new Promise((resolve) => {
        begins = resolve
      })
      const first = mutex.runExclusive(async ({ signal }) => {
        await once(signal, 'abort')
        await hasBegun
        assert.equal(await mutex.runExclusive(assert.fail, { ifAvailable: true }), undefined)
        return signal.reason.code
      })
      const abandoned = await mutex.runExclusive(async (grant) => {
        begins()
        assert.equal(await first, 'ERR_LOCK_LOST')
        assert.equal(mutex.isLocked(), true)
        assert.equal(grant.signal.aborted, false)
        return grant.abandoned
      })
      assert.equal(abandoned, true)
      assert.equal(mutex.isLocked(), false)
    })

    it('each have the full time, one after another in a thread', async () => {
      const mutex = open(freshName(), { maxHold: 1500 })
      const first = await mutex.acquire()
      const second = mutex.acquire()
      // On a machine that stands still the first hold may end by itself, before the release.
      let start
      const ends = () => {
        start ??= performance.now()
      }
      second.then(ends)
      await new Promise((resolve) => setTimeout(resolve, 300))
      ends()
      // A timer counts from the time that its turn of the event loop has read: not one before `start`.
      await turn()
      first()
      const { signal } = await second
      await once(signal, 'abort')
      assert.ok(performance.now() - start >= 1499)
      assert.equal(first.signal.aborted, true)
    })

    it('abort no signal of a hold that ends before', async () => {
      const mutex = open(freshName(), { maxHold: 100 })
      const release = await mutex.acquire()
      const { signal } = release
      release()
      await new Promise((resolve) => setTimeout(resolve, 200))
      assert.equal(signal.aborted, false)
    })

    it('never end with Infinity, and have no timer that keeps the process alive', async () => {
      const name = freshName()
      const mutex = open(name, { maxHold: Infinity, minHold: 10 })
      const { signal } = await mutex.acquire()
      assert.equal(signal.aborted, false)
      const options = JSON.stringify(optionsOf(freshName(), { maxHold: long }))
      const { code } = await run([
        '-e',
        `new (require(${JSON.stringify(entry)}).Mutex)(${options}).lock()`,
      ])
      assert.equal(code, 0)
    })
  })

  it('have no strict order in mutexes', () => {
    const unsupported = { code: 'ERR_LOCK_UNSUPPORTED', message: /engine/ }
    const maxHold = 1000
    const options = { ...optionsOf(freshName()), maxHold }
    for (const Class of [Mutex, RecursiveMutex, KeyedMutex]) {
      assert.throws(() => new Class({ ...options, fairness: 'fifo' }), unsupported, Class.name)
    }
  })

  it('are the same for all objects of a thread', async () => {
    for (const Class of [Mutex, KeyedMutex]) {
      const name = freshName()
      const one = open(name, { minHold: 100 }, Class)
      for (const times of [{ minHold: 200 }, {}, { minHold: 100, maxHold: 200 }]) {
        const mismatch = { code: 'ERR_LOCK_MISMATCH', message: /construct it alike/ }
        assert.throws(() => open(name, times, Class), mismatch)
      }
      assert.ok(one)
      assert.ok(open(name, { minHold: 100, maxHold: Infinity }, Class))
    }
  })

  it('refuse methods that block, whose thread would run no timer', () => {
    const options = { ...optionsOf(freshName(), { maxHold: 1000 }), allowBlockingMainThread: true }
    const mutex = new Mutex(options)
    const unsupported = { code: 'ERR_LOCK_UNSUPPORTED', message: /returns a promise/ }
    for (const method of ['lockSync', 'acquireSync']) {
      assert.throws(() => mutex[method](), unsupported)
    }
    assert.throws(() => mutex.runExclusiveSync(() => {}), unsupported)
    assert.equal(mutex.isLocked(), false)
  })
})
