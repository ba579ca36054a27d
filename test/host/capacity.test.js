'use strict'
const assert = require('node:assert/strict')
const { KeyedMutex, KeyedRWLock, KeyedSemaphore } = require('../..')
const native = require('../../lib/addon/load.js')
const { useAgents, freshName, within } = require('../helpers/agents.js')
const { useHosts } = require('../helpers/hosts.js')
const { scaled } = require('../helpers/scale.js')

/** The slots of the one bucket that a table of the smallest capacities has. */
const slots = 64

describe('Capacity of keyed locks of scope host', function () {
  // The tests start processes, and on a busy machine a process may not run for a while.
  this.timeout(120_000)
  const hosts = useHosts()
  const agents = useAgents()
  const optionsOf = (name) => ({ scope: 'host', name, directory: hosts.directory, capacity: 16 })
  const there = (name) =>
    `my.locks ??= new boxoffice.KeyedMutex(${JSON.stringify(optionsOf(name))});`

  /** The calls of each class: one key by itself, and several keys by each form. */
  const classes = {
    KeyedMutex: {
      make: (options) => new KeyedMutex(options),
      forms: {
        tryAcquire: (locks, keys) => locks.tryAcquire(keys),
        acquire: (locks, keys) => locks.acquire(keys),
        acquireSync: (locks, keys) => locks.acquireSync(keys),
        runExclusive: (locks, keys) => locks.runExclusive(keys, () => {}),
        runExclusiveSync: (locks, keys) => locks.runExclusiveSync(keys, () => {}),
      },
      one: (locks, key) => locks.tryAcquire(key),
    },
    'KeyedRWLock, to read': {
      make: (options) => new KeyedRWLock(options),
      forms: {
        tryAcquireRead: (locks, keys) => locks.tryAcquireRead(keys),
        acquireRead: (locks, keys) => locks.acquireRead(keys),
        acquireReadSync: (locks, keys) => locks.acquireReadSync(keys),
        runShared: (locks, keys) => locks.runShared(keys, () => {}),
        runSharedSync: (locks, keys) => locks.runSharedSync(keys, () => {}),
      },
      one: (locks, key) => locks.tryAcquireRead(key),
    },
    'KeyedRWLock, to write': {
      make: (options) => new KeyedRWLock(options),
      forms: {
        tryAcquireWrite: (locks, keys) => locks.tryAcquireWrite(keys),
        acquireWrite: (locks, keys) => locks.acquireWrite(keys),
        acquireWriteSync: (locks, keys) => locks.acquireWriteSync(keys),
        runExclusive: (locks, keys) => locks.runExclusive(keys, () => {}),
        runExclusiveSync: (locks, keys) => locks.runExclusiveSync(keys, () => {}),
      },
      one: (locks, key) => locks.tryAcquireWrite(key),
    },
    KeyedSemaphore: {
      make: (options) => new KeyedSemaphore(2, options),
      forms: {
        tryAcquire: (locks, keys) => locks.tryAcquire(keys),
        acquire: (locks, keys) => locks.acquire(keys),
        acquireSync: (locks, keys) => locks.acquireSync(keys),
        runExclusive: (locks, keys) => locks.runExclusive(keys, () => {}),
        runExclusiveSync: (locks, keys) => locks.runExclusiveSync(keys, () => {}),
      },
      one: (locks, key) => locks.tryAcquire(key, 2)?.[1],
    },
  }

  for (const [title, { make, forms, one }] of Object.entries(classes)) {
    for (const [form, take] of Object.entries(forms)) {
      it(`${title}: ${form} of several keys takes none when one of them has no room`, async () => {
        const locks = make({ ...optionsOf(freshName()), allowBlockingMainThread: true })
        const held = Array.from({ length: slots - 2 }, (_, i) => one(locks, `held ${i}`))
        await assert.rejects(async () => take(locks, ['a', 'b', 'c']), {
          code: 'ERR_LOCK_CAPACITY',
        })
        assert.equal(locks.size, held.length)
        for (const key of ['a', 'b']) one(locks, key)()
        for (const release of held) release()
        const taken = await take(locks, ['a', 'b', 'c'])
        const release = Array.isArray(taken) ? taken[1] : taken
        // A form with a callback has released them.
        release?.()
        assert.equal(locks.size, 0)
      })
    }
  }

  for (const [capacity, room] of [
    [1, slots],
    [2, slots],
    [32, slots],
    [33, 2 * slots],
    [64, 2 * slots],
    [65, 4 * slots],
  ]) {
    it(`of ${capacity} keys is rounded up to ${room} entries`, async () => {
      const locks = new KeyedMutex({ ...optionsOf(freshName()), capacity })
      let held = 0
      for (let key = 0; held < room; key++) if (takes(locks, key)) held++
      assert.equal(locks.size, room)
      for (let key = room; key < 2 * room; key++) assert.equal(takes(locks, `other ${key}`), false)
      for (const key of [...locks.keys()]) locks.unlock(key)
    })
  }

  /** Whether there is room for the key. */
  function takes(locks, key) {
    try {
      return locks.tryLock(key)
    } catch (error) {
      assert.equal(error.code, 'ERR_LOCK_CAPACITY')
      return false
    }
  }

  it('is not used up by idle keys of any thread or process', async () => {
    const capacity = 1024
    const options = { ...optionsOf(freshName()), capacity }
    const leaveIdle = (of) => `
      const options = ${JSON.stringify(options)}
      my.maps ??= []
      for (let map = 0; map < 30; map++) {
        // Each of these maps has its own cores.
        my.maps[map] ??= new boxoffice.KeyedMutex({ ...options, warnAfter: 10_000 + map })
        for (let i = 0; i < 15; i++) {
          const release = my.maps[map].tryAcquire('${of} ' + map + ' ' + i)
          release()
        }
      }`
    const all = [agents(), agents(), hosts.start()]
    for (const [i, one] of all.entries()) await one.does(leaveIdle(i))
    const locks = new KeyedMutex(options)
    for (let i = 0; i < capacity; i++) assert.equal(locks.tryLock(i), true)
    assert.equal(locks.size, capacity)
    for (let i = 0; i < capacity; i++) locks.unlock(i)
    for (const [i, one] of all.entries()) await one.does(leaveIdle(i))
    assert.equal(locks.size, 0)
  })

  it('gives the slot of an idle key to another key, and detaches the first', async () => {
    const name = freshName()
    const locks = new KeyedMutex(optionsOf(name))
    const agent = agents()
    const stale = locks.tryAcquire('a')
    stale()
    await agent.does(`${there(name)} for (let i = 0; i < ${slots}; i++) await my.locks.lock(i)`)
    const isWhole = () => agent.does(`return my.locks.size === ${slots}`)
    assert.throws(() => locks.unlock('a'), { code: 'ERR_LOCK_NOT_HELD' })
    assert.throws(() => locks.tryLock('a'), { code: 'ERR_LOCK_CAPACITY' })
    stale()
    locks.cancel('a')
    assert.equal(await isWhole(), true)
    await agent.does(`my.locks.unlock(3)`)
    assert.equal(locks.tryLock('a'), true)
    assert.equal(await agent.does(`return my.locks.tryLock('a')`), false)
    locks.unlock('a')
    await agent.does(`my.locks.lockSync(3)`)
    assert.equal(await isWhole(), true)
    // The same if this thread itself has the other key.
    for (let i = 0; i < slots; i++) await agent.does(`my.locks.unlock(${i})`)
    locks.tryAcquire('a')()
    for (let i = 0; i < slots; i++) assert.equal(locks.tryLock(i), true)
    assert.throws(() => locks.unlock('a'), { code: 'ERR_LOCK_NOT_HELD' })
    assert.throws(() => locks.acquire('a'), { code: 'ERR_LOCK_CAPACITY' })
    stale()
    assert.equal(locks.size, slots)
    for (let i = 0; i < slots; i++) locks.unlock(i)
    assert.equal(locks.size, 0)
  })

  it('counts a key as long as any thread waits for it', async () => {
    const name = freshName()
    const agent = agents()
    const locks = new KeyedMutex(optionsOf(name))
    await agent.does(`${there(name)} await my.locks.lock('a')`)
    const waits = locks.acquire('a', { timeout: 60_000 })
    await agent.does(`my.locks.unlock('a')`)
    const release = await within(30_000, waits)
    for (let i = 1; i < slots; i++) assert.equal(locks.tryLock(i), true)
    assert.throws(() => locks.tryLock(slots), { code: 'ERR_LOCK_CAPACITY' })
    release()
    assert.equal(locks.tryLock(slots), true)
    for (let i = 1; i <= slots; i++) locks.unlock(i)
    await assert.rejects(locks.acquire('b', { signal: AbortSignal.abort() }), {
      name: 'AbortError',
    })
    for (let i = 0; i < slots; i++) assert.equal(locks.tryLock(`other ${i}`), true)
    for (let i = 0; i < slots; i++) locks.unlock(`other ${i}`)
  })

  for (const [Class, method, start] of [
    [KeyedMutex, 'acquire', []],
    [KeyedRWLock, 'acquireWrite', []],
    [KeyedSemaphore, 'acquire', [1]],
  ]) {
    it(`${Class.name}: a key of a dead holder makes room, and is reported while there is room`, async () => {
      const args = [...start, optionsOf(freshName())]
      const locks = new Class(...args)
      const acquire = async (key) => [await locks[method](key, { timeout: 60_000 })].flat().at(-1)
      for (let round = 0; round < 5; round++) {
        const host = hosts.start()
        await host.does(`my.locks = new boxoffice.${Class.name}(...${JSON.stringify(args)})
          for (let i = 0; i < 30; i++) await my.locks.${method}('${round} ' + i)`)
        const waiting = acquire(`${round} 0`)
        await host.dies()
        // The dead process has been removed from all keys by then.
        const first = await waiting
        const second = await acquire(`${round} 1`)
        assert.deepEqual([first.abandoned, second.abandoned], [true, true])
        first()
        second()
        if (round === 0) assert.equal(locks.size, 28)
      }
      const held = []
      for (let i = 0; i < slots; i++) held.push(await acquire(`other ${i}`))
      assert.equal(locks.size, slots)
      await assert.rejects(acquire('one more'), { code: 'ERR_LOCK_CAPACITY' })
      for (const release of held) release()
    })
  }

  const questions = {
    KeyedMutex: (locks) => [locks.isLocked('free'), locks.release('free')],
    'KeyedRWLock, to write': (locks) => [locks.readers('free'), locks.isWriteLocked('free')],
    KeyedSemaphore: (locks) => [locks.isLocked('free'), locks.getValue('free')],
  }
  const answers = {
    KeyedMutex: [false, undefined],
    'KeyedRWLock, to write': [0, false],
    KeyedSemaphore: [false, 2],
  }
  for (const [title, ask] of Object.entries(questions)) {
    it(`${title}: a question about a free key needs no room`, () => {
      const { make, one } = classes[title]
      const locks = make(optionsOf(freshName()))
      const releases = Array.from({ length: slots }, (_, key) => one(locks, key))
      assert.deepEqual(ask(locks), answers[title])
      for (const release of releases) release()
      assert.equal(locks.size, 0)
    })
  }

  for (const [title, ask] of Object.entries(questions)) {
    it(`${title}: a question needs no room when the slot of its free key passes to another key`, () => {
      const { make, one } = classes[title]
      const locks = make(optionsOf(freshName()))
      const releases = Array.from({ length: slots - 1 }, (_, key) => one(locks, key))
      one(locks, 'free')()
      const { has } = native.host
      native.host.has = (...key) => {
        const found = has(...key)
        if (found === 1) releases.push(one(locks, 'last'))
        return found
      }
      try {
        assert.deepEqual(ask(locks), answers[title])
      } finally {
        native.host.has = has
      }
      assert.equal(releases.length, slots)
      for (const release of releases) release()
    })
  }

  it('a question about a free key costs no report of a death', async () => {
    const name = freshName()
    const locks = new KeyedMutex(optionsOf(name))
    const host = hosts.start()
    await host.does(`${there(name)} for (let i = 0; i < ${slots}; i++) await my.locks.lock(i)`)
    const first = locks.acquire(0)
    await host.dies()
    const releases = [await first]
    assert.equal(locks.isLocked('free'), false)
    for (let key = 1; key < slots; key++) releases.push(locks.tryAcquire(key))
    assert.ok(releases.every(({ abandoned }) => abandoned))
    for (const release of releases) release()
  })

  it('never admits two threads to one key while slots pass from key to key', async () => {
    const name = freshName()
    const keys = 200
    const inside = new Int32Array(new SharedArrayBuffer(4 * keys * 3))
    const churn = `
      const { directory, inside } = workerData
      const options = { scope: 'host', name: ${JSON.stringify(name)}, directory, capacity: 16 }
      const mutexes = new boxoffice.KeyedMutex(options)
      const rwLocks = new boxoffice.KeyedRWLock(options)
      const semaphores = new boxoffice.KeyedSemaphore(1, options)
      const ways = [
        (key, body) => mutexes.runExclusive(key, body),
        (key, body) => mutexes.runExclusiveSync(key, body, { timeout: 60_000 }),
        (key, body) => { const release = mutexes.tryAcquire(key); if (release) { body(); release() } },
        (key, body) => { if (mutexes.tryLock(key)) { body(); mutexes.unlock(key) } },
        (key, body) => rwLocks.runExclusive(key, body),
        (key, body) => semaphores.runExclusive(key, body),
      ]
      let next = workerData.seed
      const random = (n) => (next = (next * 48271) % 2147483647) % n
      let entered = 0
      for (let i = 0; i < ${scaled(30_000, 3_000)}; i++) {
        // A few keys are contended; most leave their slot to other keys.
        const key = random(4) === 0 ? random(3) : random(${keys})
        const way = random(ways.length)
        const at = key + ${keys} * Math.max(0, way - 3)
        await ways[way](key, () => {
          if (Atomics.add(inside, at, 1) !== 0) throw new Error('oracle: two are in key ' + key)
          entered++
          Atomics.sub(inside, at, 1)
        })
      }
      return entered`
    const { directory } = hosts
    const all = [1, 22, 333].map((seed) => agents({ directory, inside, seed }))
    const entered = await Promise.all(all.map((agent) => agent.does(churn)))
    for (const count of entered) assert.ok(count > 0)
    const options = optionsOf(name)
    assert.equal(new KeyedMutex(options).size, 0)
    assert.equal(new KeyedRWLock(options).size, 0)
    assert.equal(new KeyedSemaphore(1, options).size, 0)
  })
})
