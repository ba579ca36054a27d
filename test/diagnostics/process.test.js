'use strict'
// The picture of a process: all its threads, and what they know of other processes.
const assert = require('node:assert/strict')
const { KeyedMutex, KeyedRWLock, Mutex, RWLock, snapshot } = require('../..')
const { freshName, useAgents } = require('../helpers/agents.js')
const { runCode } = require('../helpers/processes.js')

describe('snapshot() of the process', () => {
  const agent = useAgents()

  /** With what all threads say: a machine that is busy may take longer than they are given for that. */
  async function fullSnapshot() {
    for (;;) {
      const seen = await snapshot()
      if (seen.threads.every(({ answered }) => answered)) return seen
    }
  }

  async function reportOf(kind, name, key) {
    const { locks } = await fullSnapshot()
    const found = locks.filter((lock) => lock.kind === kind && lock.name === name)
    const ofKey = found.filter((lock) => lock.key === key)
    assert.ok(ofKey.length <= 1)
    return ofKey[0]
  }

  it('says when, and of which process and threads it is', async () => {
    const kept = new Mutex({ diagnostics: true })
    const { at, pid, threads, deadlocks } = await snapshot()
    assert.ok(Math.abs(at - Date.now()) < 5000)
    assert.equal(pid, process.pid)
    assert.deepEqual(threads[0], { id: 0, answered: true })
    assert.ok(Array.isArray(deadlocks))
    assert.equal(kept.isLocked(), false)
  })

  it('has a lock that no other thread knows, with the thread that does', async () => {
    const worker = agent()
    const { threadId } = worker.worker
    await worker.does(`my.s = new Semaphore(2, { diagnostics: true }); await my.s.acquire(2)
      my.late = my.s.acquire(1)`)
    const { threads, locks } = await fullSnapshot()
    assert.ok(threads.some(({ id }) => id === threadId))
    const [semaphore] = locks.filter(
      ({ kind, thread }) => kind === 'Semaphore' && thread === threadId,
    )
    assert.equal(semaphore.waiting, 1)
    assert.equal(semaphore.scope, 'process')
    assert.equal(semaphore.holders[0].weight, 2)
    assert.equal(semaphore.holders[0].thread, threadId)
    assert.ok(semaphore.oldestWait >= 0)
    assert.equal(semaphore.totals.acquisitions, 1)
  })

  it('has a lock that threads share once, with the totals of all', async () => {
    const name = freshName()
    const lock = new RWLock({ name, diagnostics: 'counters' })
    const workers = [agent(), agent()]
    for (const worker of workers) {
      await worker.does(`my.lock = new boxoffice.RWLock({ name: '${name}', diagnostics: 'counters' })
        ;(await my.lock.acquireRead())()
        my.release = await my.lock.acquireRead()`)
    }
    const release = await lock.acquireRead()
    const late = lock.acquireWrite({ timeout: 5 }).catch(() => {})
    await late
    const report = await reportOf('RWLock', name)
    assert.equal(report.thread, undefined)
    assert.equal(report.holders.length, 3)
    assert.equal(new Set(report.holders.map(({ thread }) => thread)).size, 3)
    assert.equal(report.totals.acquisitions, 5)
    assert.equal(report.totals.timeouts, 1)
    release()
  })

  it('adds up how long was waited, in all threads', async () => {
    const name = freshName()
    const mutex = new Mutex({ name, diagnostics: true })
    const worker = agent()
    await worker.does(`my.mutex = new Mutex({ name: '${name}', diagnostics: true })`)
    await mutex.lock()
    const there = worker.does('await my.mutex.lock(); my.mutex.unlock()')
    while (mutex.snapshot().waiting === 0) await new Promise(setImmediate)
    const here = mutex.lock()
    assert.equal((await reportOf('Mutex', name)).waiting, 2)
    mutex.unlock()
    await Promise.all([there, here.then(() => mutex.unlock())])
    const { waits, totals } = await reportOf('Mutex', name)
    assert.equal(totals.contended, 2)
    assert.equal(
      waits.buckets.reduce((sum, some) => sum + some),
      2,
    )
    assert.ok(waits.p50 > 0 && waits.p50 <= waits.max)
  })

  it('does not wait for a thread that is blocked, and knows what its mutex is', async () => {
    const name = freshName()
    const mutex = new Mutex({ name, diagnostics: 'counters' })
    const flag = new Int32Array(new SharedArrayBuffer(4))
    const worker = agent(flag)
    const { threadId } = worker.worker
    const { done } = await worker.begins(`
      const mutex = new Mutex({ name: '${name}', diagnostics: 'counters' })
      mutex.lockSync(); say('blocked'); Atomics.wait(workerData, 0, 0); mutex.unlock()`)
    const { threads, locks } = await snapshot()
    Atomics.store(flag, 0, 1)
    Atomics.notify(flag, 0)
    assert.ok(threads.some(({ id, answered }) => id === threadId && !answered))
    const { holders } = locks.find((lock) => lock.name === name)
    assert.deepEqual(
      holders.map(({ thread }) => thread),
      [threadId],
    )
    await done
    await worker.dies()
    assert.ok(!(await snapshot()).threads.some(({ id }) => id === threadId))
    assert.equal(mutex.isLocked(), false)
  })

  it('has a keyed map, and each of its keys that is busy', async () => {
    const name = freshName()
    const keys = new KeyedMutex({ name, diagnostics: 'counters' })
    const worker = agent()
    await worker.does(`my.keys = new KeyedMutex({ name: '${name}', diagnostics: 'counters' })
      await my.keys.lock('theirs')
      await my.keys.lock(1n)`)
    await keys.lock('ours')
    await keys.acquire('theirs', { timeout: 1 }).catch(() => {})
    const whole = await reportOf('KeyedMutex', name)
    assert.equal(whole.totals.acquisitions, 3)
    assert.equal(whole.totals.timeouts, 1)
    const theirs = await reportOf('KeyedMutex', name, 'theirs')
    assert.equal(theirs.holders.length, 1)
    assert.equal(theirs.holders[0].thread, worker.worker.threadId)
    assert.ok(theirs.holders[0].since > 0)
    assert.equal((await reportOf('KeyedMutex', name, 1n)).waiting, 0)
    assert.equal((await reportOf('KeyedMutex', name, 'ours')).holders[0].thread, 0)
    keys.unlock('ours')
    assert.equal(await reportOf('KeyedMutex', name, 'ours'), undefined)
  })

  it('finds a lock in memory of the user by its address', async () => {
    const mutex = new Mutex({ diagnostics: 'counters', shared: true })
    const { buffer } = mutex
    const worker = agent(buffer)
    await worker.does(`my.mutex = new Mutex({ buffer: workerData, diagnostics: 'counters' })
      await my.mutex.lock()`)
    const { locks } = await fullSnapshot()
    const [found, ...others] = locks.filter(
      ({ holders, kind, name }) =>
        kind === 'Mutex' && name === undefined && holders[0]?.thread === worker.worker.threadId,
    )
    assert.equal(others.length, 0)
    assert.equal(found.totals.acquisitions, 1)
    assert.equal(mutex.isLocked(), true)
  })

  it('forgets locks that nobody has any more', async () => {
    const { shown } = await runCode(
      `const { snapshot } = require(${JSON.stringify(require.resolve('../..'))})
      for (let i = 0; i < 100; i++) new RWLock({ diagnostics: true })
      for (let i = 0; i < 10; i++) { await turn(); globalThis.gc() }
      show((await snapshot()).locks.length)`,
      { NODE_OPTIONS: '--expose-gc' },
    )
    assert.ok(shown[0] < 10, `${shown[0]} are left`)
  })

  it('keeps no process alive, once it is there', async () => {
    const { code, late } = await runCode(
      `new Mutex({ diagnostics: true, warnAfter: 60_000 }).lock()
      const { snapshot } = require(${JSON.stringify(require.resolve('../..'))})
      show((await snapshot()).threads)`,
    )
    assert.equal(code, 0)
    assert.ok(late < 5000)
  })

  it('shows nothing of what is not watched, where the environment asks for all', async () => {
    const { shown, stderr } = await runCode(
      `const boxoffice = require(${JSON.stringify(require.resolve('../..'))})
      const ends = await new boxoffice.DiningPhilosophers(3).begin(0)
      const release = await new boxoffice.LockManager().acquire('name')
      show((await boxoffice.snapshot()).locks.map(({ kind }) => kind))
      ends()
      release()`,
      { BOXOFFICE_DIAGNOSTICS: 'counters' },
    )
    assert.deepEqual({ shown, stderr }, { shown: [['Mutex']], stderr: '' })
  })

  it('gives each wait its place when nothing is watched', async () => {
    const map = new KeyedRWLock()
    await map.acquireRead('unseen')
    const { locks } = await snapshot()
    assert.ok(process.env.BOXOFFICE_DIAGNOSTICS || !locks.some(({ key }) => key === 'unseen'))
  })

  for (const diagnostics of ['counters', true]) {
    it(`tells how long holds lasted that have ended: ${diagnostics}`, async () => {
      const [name, keyed] = [freshName(), freshName()]
      const mutex = new Mutex({ name, diagnostics })
      const keys = new KeyedMutex({ name: keyed, diagnostics })
      for (const acquire of [() => mutex.acquire(), () => keys.acquire('a')]) {
        for (let i = 0; i < 2; i++) (await acquire())()
        const release = await acquire()
        await new Promise((resolve) => setTimeout(resolve, 20))
        release()
      }
      const release = await keys.acquire('b')
      const whole = await reportOf('KeyedMutex', keyed)
      for (const { holds } of [await reportOf('Mutex', name), whole]) {
        assert.equal(
          holds.buckets.reduce((sum, some) => sum + some),
          3,
        )
        assert.ok(holds.max >= 15 && holds.p99 <= holds.max, `${holds.max}`)
        assert.ok(holds.p50 < holds.p99)
      }
      const key = await reportOf('KeyedMutex', keyed, 'b')
      assert.deepEqual([key.map, key.holds], [whole.id, undefined])
      release()
    })
  }
})
