'use strict'
// The snapshot of a process: all its threads, and what they know of other processes.
const assert = require('node:assert/strict')
const { KeyedMutex, KeyedRWLock, Mutex, RWLock, Semaphore, snapshot } = require('../..')
const { freshName, useAgents } = require('../helpers/agents.js')
const { runCode } = require('../helpers/processes.js')
const { turn } = require('../helpers/promises.js')

describe('snapshot() of the process', () => {
  const agent = useAgents()

  /**
   * With the answers of all threads: on a busy machine, they may need longer than the snapshot
   * waits.
   */
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

  it('has its time, its process and its threads', async () => {
    const kept = new Mutex({ diagnostics: true })
    const { at, pid, threads, deadlocks } = await snapshot()
    assert.ok(Math.abs(at - Date.now()) < 5000)
    assert.equal(pid, process.pid)
    assert.deepEqual(threads[0], { id: 0, answered: true })
    assert.ok(Array.isArray(deadlocks))
    assert.equal(kept.isLocked(), false)
  })

  it('has a lock that no other thread knows, with its thread', async () => {
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

  it('has a shared lock once, with the totals of all threads', async () => {
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

  it('adds up wait times of all threads', async () => {
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

  it('has totals and times of one moment, while it waits for other threads', async () => {
    const name = freshName()
    const mutex = new Mutex({ name, diagnostics: 'counters' })
    const worker = agent()
    await worker.does(`my.mutex = new Mutex({ diagnostics: 'counters' })`)
    const asked = snapshot()
    await mutex.runExclusive(() => {})
    const { locks } = await asked
    const { totals, holds } = locks.find((lock) => lock.name === name)
    assert.equal(totals.acquisitions, 0)
    assert.equal(holds.max, 0)
  })

  it('does not wait for a blocked thread, and still shows its mutex', async () => {
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

  it('has a keyed map, and each of its busy keys', async () => {
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

  it('tells a key from a keyed lock whose name ends as the key does, and from its keys', async () => {
    const name = freshName()
    const longer = `${name} string k`
    const one = new KeyedMutex({ name, diagnostics: 'counters' })
    const other = new KeyedMutex({ name: longer, diagnostics: 'counters' })
    const held = [await one.acquire('k'), await one.acquire('k string l'), await other.acquire('l')]
    assert.equal((await reportOf('KeyedMutex', longer)).totals.acquisitions, 1)
    assert.equal((await reportOf('KeyedMutex', name, 'k')).holders.length, 1)
    assert.equal((await reportOf('KeyedMutex', name, 'k string l')).holders.length, 1)
    assert.equal((await reportOf('KeyedMutex', longer, 'l')).holders.length, 1)
    for (const release of held) release()
  })

  it('has more busy keys than a call may have arguments', async () => {
    const { shown } = await runCode(`
      const { KeyedMutex, snapshot } = require(${JSON.stringify(require.resolve('../..'))})
      const users = new KeyedMutex({ diagnostics: 'counters' })
      for (let key = 0; key < 150_000; key++) users.tryAcquire(key)
      const { locks } = await snapshot()
      show(locks.length)`)
    assert.deepEqual(shown, [150_001])
  }).timeout(60_000)

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

  it('forgets locks without an object', async () => {
    const { shown } = await runCode(
      `const { snapshot } = require(${JSON.stringify(require.resolve('../..'))})
      for (let i = 0; i < 100; i++) new RWLock({ diagnostics: true })
      for (let i = 0; i < 10; i++) { await turn(); globalThis.gc() }
      show((await snapshot()).locks.length)`,
      { NODE_OPTIONS: '--expose-gc' },
    )
    assert.ok(shown[0] < 10, `${shown[0]} are left`)
  })

  it('keeps no process alive once it is taken', async () => {
    const { code, late } = await runCode(
      `new Mutex({ diagnostics: true, warnAfter: 60_000 }).lock()
      const { snapshot } = require(${JSON.stringify(require.resolve('../..'))})
      show((await snapshot()).threads)`,
    )
    assert.equal(code, 0)
    assert.ok(late < 5000)
  })

  it('omits unwatched locks, if the environment asks for all', async () => {
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

  it('reports a hold during which the event loop was idle', async () => {
    const name = freshName()
    const mutex = new Mutex({ name, diagnostics: 'counters' })
    const worker = agent()
    await worker.does('')
    // Of the phases of the event loop, timers run last before it is idle, and messages arrive first afterwards.
    await new Promise((resolve) => setTimeout(resolve, 1))
    const release = await mutex.acquire()
    const held = performance.now()
    await worker.does('sleep(50)')
    const shortest = performance.now() - held
    release()
    const { holds } = await reportOf('Mutex', name)
    assert.ok(holds.max >= shortest - 1, `${holds.max} of ${shortest}`)
  })

  /** Holds a lock for about `ms`, and resolves to the shortest and the longest time that this can have lasted. */
  async function timedHold(acquire, ms) {
    // 'counters' reads the clock once per turn of the event loop: both ends of the hold are in turns of their own.
    await turn()
    const before = performance.now()
    const release = await acquire()
    const held = performance.now()
    await new Promise((resolve) => setTimeout(resolve, ms))
    await turn()
    const leaving = performance.now()
    release()
    return { shortest: leaving - held, longest: performance.now() - before }
  }

  /** A percentile is the upper end of its time's bucket, whose lower end is half of it, or the maximum. */
  function assertTimes({ p50, p99, max }, measured) {
    const rounding = 0.001
    const sorted = (end) => measured.map((times) => times[end]).sort((a, b) => a - b)
    const [shortest, longest] = [sorted('shortest'), sorted('longest')]
    const isAt = (time, i, width) =>
      time >= shortest[i] - rounding && time <= longest[i] * width + rounding
    const seen = JSON.stringify({ p50, p99, max, measured })
    assert.ok(isAt(p50, Math.ceil(measured.length / 2) - 1, 2), seen)
    assert.ok(isAt(p99, measured.length - 1, 2) && p99 <= max, seen)
    assert.ok(isAt(max, measured.length - 1, 1), seen)
  }

  for (const diagnostics of ['counters', true]) {
    it(`reports how long ended holds lasted: ${diagnostics}`, async () => {
      const [name, keyed] = [freshName(), freshName()]
      const mutex = new Mutex({ name, diagnostics })
      const keys = new KeyedMutex({ name: keyed, diagnostics })
      const measured = []
      for (const acquire of [() => mutex.acquire(), () => keys.acquire('a')]) {
        const times = []
        for (const ms of [0, 0, 20]) times.push(await timedHold(acquire, ms))
        measured.push(times)
      }
      const release = await keys.acquire('b')
      const whole = await reportOf('KeyedMutex', keyed)
      for (const [i, { holds }] of [await reportOf('Mutex', name), whole].entries()) {
        assert.equal(
          holds.buckets.reduce((sum, some) => sum + some),
          3,
        )
        assertTimes(holds, measured[i])
      }
      const key = await reportOf('KeyedMutex', keyed, 'b')
      assert.deepEqual([key.map, key.holds], [whole.id, undefined])
      release()
    })
  }

  it('has the oldest waiters of all threads, with their stacks', async () => {
    const name = freshName()
    const keys = new KeyedMutex({ name, diagnostics: true })
    const worker = agent()
    await worker.does(`my.keys = new KeyedMutex({ name: '${name}', diagnostics: true })`)
    await keys.lock('a')
    const first = keys.lock('a', { priority: 1 })
    const { done } = await worker.begins(`
      const there = my.keys.lock('a')
      say('waits'); await there; my.keys.unlock('a')`)
    const others = Array.from({ length: 30 }, () => keys.lock('a'))
    const { waiters, waiting } = await reportOf('KeyedMutex', name, 'a')
    assert.equal(waiting, 32)
    assert.equal(waiters.length, 20)
    assert.deepEqual(
      waiters.slice(0, 3).map(({ thread }) => thread),
      [0, worker.worker.threadId, 0],
    )
    for (const [i, { since, waitedFor, mode, stack }] of waiters.entries()) {
      assert.ok(i === 0 || since >= waiters[i - 1].since)
      assert.ok(waitedFor >= 0)
      assert.equal(mode, 'exclusive')
      if (i !== 1) assert.match(stack, /^ +at .*process\.test\.js/)
    }
    for (const wait of [first, ...others]) {
      keys.unlock('a')
      await wait
    }
    keys.unlock('a')
    await done
    assert.deepEqual(
      (await snapshot()).locks.filter(({ key }) => key === 'a'),
      [],
    )
  })

  it('counts each waiter with counters, without those that have left', async () => {
    const name = freshName()
    const semaphore = new Semaphore(2, { name, diagnostics: 'counters' })
    await semaphore.acquire(2)
    const aborts = new AbortController()
    const waits = [2, 1, 1].map((weight) => semaphore.acquire(weight, { signal: aborts.signal }))
    const seen = async () => (await reportOf('Semaphore', name)).waiters
    assert.deepEqual(
      (await seen()).map(({ thread, stack }) => [thread, stack]),
      Array.from({ length: 3 }, () => [0, undefined]),
    )
    aborts.abort()
    await Promise.allSettled(waits)
    assert.deepEqual(await seen(), [])
    semaphore.release(2)
  })

  it('says where a lock without a name was made, with full diagnostics', async () => {
    const here = (what) => new RegExp(`^ +at ${what}.*process\\.test\\.js`)
    function makesLocks(diagnostics) {
      const mutex = new Mutex({ diagnostics })
      const keys = new KeyedMutex({ diagnostics })
      return { mutex, keys }
    }
    const madeOf = async (diagnostics) => {
      const known = new Set((await snapshot()).locks.map(({ id }) => id))
      const { mutex, keys } = makesLocks(diagnostics)
      const releases = [await mutex.acquire(), await keys.acquire('made')]
      const { locks } = await snapshot()
      for (const release of releases) release()
      const key = locks.find((one) => one.key === 'made')
      assert.equal(key.madeAt, undefined)
      const map = locks.find(({ id }) => id === key.map)
      const single = locks.filter(({ kind, name }) => kind === 'Mutex' && name === undefined)
      return { map, single: single.find(({ id }) => !known.has(id)) }
    }
    const { map, single } = await madeOf(true)
    for (const { madeAt } of [map, single]) assert.match(madeAt, here('makesLocks'))
    const name = freshName()
    const named = new Mutex({ name, diagnostics: true })
    assert.equal((await reportOf('Mutex', name)).madeAt, undefined)
    assert.equal(named.isLocked(), false)
    const counted = await madeOf('counters')
    for (const { madeAt } of [counted.map, counted.single]) assert.equal(madeAt, undefined)
  })
})
