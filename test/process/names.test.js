'use strict'
const assert = require('node:assert/strict')
const boxoffice = require('../..')
const { freshName, useAgents } = require('../helpers/agents.js')
const { inChild } = require('../helpers/children.js')
const { apart, churn, outcome, settled } = require('../helpers/keyed.js')

const { AutoResetEvent, Barrier, ConditionVariable, CountdownLatch } = boxoffice
const { KeyedMutex, KeyedSemaphore, KeyedRWLock, ManualResetEvent, Mutex, Semaphore } = boxoffice

/** Strings that an encoding may change on the way. */
const strange = [
  '\ud800',
  '\ud801',
  '\udc00\ud800',
  '\ufffd',
  '😀',
  'a\0b',
  'a',
  '\0',
  'u"\\ud800"',
]
strange.push('"\\ud800"', 'é', 'e\u0301', '__proto__', 's1', 'n1', 'x'.repeat(100_000))

describe('names', () => {
  let name
  beforeEach(() => {
    name = freshName()
  })

  it('objects of one name are one lock, those of other kinds are different locks', async () => {
    const first = new Mutex({ name })
    const second = new Mutex({ name })
    assert.ok(first.tryLock())
    assert.equal(second.tryLock(), false)
    const semaphore = new Semaphore(1, { name })
    const event = new AutoResetEvent({ name, isSet: true })
    assert.equal(semaphore.getValue(), 1)
    assert.ok(event.tryWait())
    assert.equal(new ManualResetEvent({ name }).isSet(), false)
    assert.ok(new KeyedMutex({ name }).tryLock(name))
    assert.ok(new KeyedSemaphore(3, { name }).tryAcquire(name, 3))
    new ConditionVariable({ name }).notifyAll()
    second.unlock()
    assert.equal(first.isLocked(), false)
  })

  it('a name is a non-empty string, and not allowed beside a buffer', () => {
    const buffer = new SharedArrayBuffer(8)
    const makes = [(o) => new Mutex(o), (o) => new Semaphore(1, o), (o) => new AutoResetEvent(o)]
    makes.push(
      (o) => new ManualResetEvent(o),
      (o) => new ConditionVariable(o),
    )
    for (const make of makes) {
      assert.throws(() => make({ name: '' }), RangeError)
      for (const bad of [null, 1, {}, new String('a')]) {
        assert.throws(() => make({ name: bad }), TypeError)
      }
      assert.throws(() => make({ name, buffer }), TypeError)
      const lock = make({ name })
      assert.throws(() => lock.buffer, TypeError)
      assert.throws(() => lock.byteOffset, TypeError)
    }
    assert.throws(() => new KeyedMutex({ buffer }), TypeError)
  })

  it('another value, or another kind in the same memory, is a mismatch', async () => {
    const mismatch = { code: 'ERR_LOCK_MISMATCH' }
    const keep = [new Semaphore(2, { name }), new AutoResetEvent({ name, isSet: true })]
    keep.push(new CountdownLatch(2, { name }), new Barrier(2, { name }))
    const values = (kind, text) => ({
      ...mismatch,
      message: `the ${kind} ${JSON.stringify(name)} exists with ${text}: construct it alike everywhere, or give it another name`,
    })
    assert.throws(() => new Semaphore(3, { name }), values('semaphore', 'the value 2, not 3'))
    const isSet = values('auto-reset event', 'isSet true, not false')
    assert.throws(() => new AutoResetEvent({ name }), isSet)
    const count = values('countdown latch', 'the count 2, not 3')
    assert.throws(() => new CountdownLatch(3, { name }), count)
    const parties = values('barrier', 'the number of parties 2, not 3')
    assert.throws(() => new Barrier(3, { name }), parties)
    keep.push(new KeyedSemaphore(2, { name }))
    const ofKeys = values('keyed semaphore', 'the value 2, not 3')
    assert.throws(() => new KeyedSemaphore(3, { name }), ofKeys)
    assert.throws(() => new KeyedSemaphore(3, { name, fairness: 'fifo' }), mismatch)
    const code = 'return codeOf(() => new KeyedSemaphore(3, { name: workerData }))'
    assert.equal(await agent(name).does(code), 'ERR_LOCK_MISMATCH')
    const other = `try { new KeyedSemaphore(3, { name: workerData }) } catch ({ message }) { return message }`
    assert.equal(await agent(name).does(other), ofKeys.message)
    const buffer = new SharedArrayBuffer(16)
    keep.push(new Semaphore(2, { buffer, byteOffset: 4 }))
    assert.throws(() => new Semaphore(1, { buffer, byteOffset: 4 }), mismatch)
    for (const byteOffset of [4, 8]) {
      assert.throws(() => new Mutex({ buffer, byteOffset }), mismatch)
      assert.throws(() => new ConditionVariable({ buffer, byteOffset }), mismatch)
    }
    for (const byteOffset of [0, 4, 8]) {
      assert.throws(() => new AutoResetEvent({ buffer, byteOffset }), mismatch)
    }
    keep.push(new Mutex({ buffer, byteOffset: 12 }), new Mutex({ buffer, byteOffset: 0 }))
    assert.ok(keep.every(Boolean))
  })
  const agent = useAgents()

  it('strange names and keys stay apart, and come back unchanged', async () => {
    const names = strange.map((one) => name + one)
    const mutexes = names.map((one) => new Mutex({ name: one }))
    for (const mutex of mutexes) assert.ok(mutex.tryLock())
    const worker = agent(names)
    const code = 'return workerData.map((name) => new Mutex({ name }).tryLock())'
    assert.ok((await worker.does(code)).every((is) => !is))
    for (const mutex of mutexes) mutex.unlock()
    assert.ok((await worker.does(code)).every(Boolean))
    const keys = [...new Set([...apart, ...strange])]
    const locks = new KeyedMutex({ name })
    for (const key of keys) assert.ok(locks.tryLock(key), JSON.stringify(String(key)))
    assert.deepEqual(new Set(locks.keys()), new Set(keys.map((key) => (key === 0 ? 0 : key))))
    assert.equal(locks.size, keys.length)
    assert.ok(locks.isLocked(-0))
    for (const key of keys) locks.unlock(key)
    assert.equal(locks.size, 0)
    const release = await locks.acquire(keys)
    assert.equal(locks.size, keys.length)
    release()
  })
})

describe('names: keyed maps across threads', () => {
  const agent = useAgents()
  let name
  let locks
  let worker
  beforeEach(() => {
    name = freshName()
    locks = new KeyedMutex({ name })
    worker = agent(name)
  })
  const head = 'const locks = (my.locks ??= new KeyedMutex({ name: workerData }));'

  it('are one map: size, keys, isLocked, snapshot; cancel is for its own thread only', async () => {
    await worker.does(`${head} await locks.lock('theirs'); await locks.lock(1n)`)
    await locks.lock('ours')
    const theirs = outcome(locks.acquire('theirs'))
    const mine = worker.does(`${head} return codeOf(() => locks.acquire('ours', { timeout: 500 }))`)
    const look = `${head} return [locks.size, [...locks.keys()], locks.isLocked('ours'), locks.snapshot()]`
    const seen = await worker.does(look)
    assert.deepEqual(seen[0], 3)
    assert.deepEqual(new Set(seen[1]), new Set(['theirs', 1n, 'ours']))
    assert.equal(seen[2], true)
    assert.deepEqual(seen[3].find(({ key }) => key === 'theirs').waiting, 1)
    assert.deepEqual([locks.size, locks.snapshot().length], [3, 3])
    assert.throws(() => locks.unlock('theirs'), { code: 'ERR_LOCK_NOT_HELD' })
    assert.throws(() => locks.release('theirs'), { code: 'ERR_LOCK_NOT_HELD' })
    locks.cancelAll('no')
    await settled()
    assert.equal(theirs.reason, 'no')
    assert.equal(await mine, 'ERR_LOCK_TIMEOUT')
    await worker.dies()
    const release = await locks.acquire('theirs')
    assert.ok(release.abandoned)
    release()
    locks.unlock('ours')
    assert.deepEqual([...locks.keys()], [1n]) // the completion is not read yet
  })

  it('grants outlive sweeps, and releasers of swept keys do nothing', async () => {
    const release = await locks.acquire('kept')
    const stale = await locks.acquire('swept')
    stale()
    churn(locks, 600)
    await worker.does(`${head} await locks.lock('swept')`)
    stale()
    assert.ok(locks.isLocked('swept'))
    const wait = outcome(locks.acquire('swept'))
    churn(locks, 600, 'more')
    stale()
    await worker.does(`${head} locks.unlock('swept')`)
    while (wait.state === 'pending') await settled()
    stale()
    assert.ok(locks.isLocked('swept') && locks.isLocked('kept'))
    release()
    wait.value()
    assert.equal(locks.size, 0)
  })

  it("a death does not put back a semaphore key's units that others have put back", async () => {
    const semaphore = new KeyedSemaphore(1, { name })
    await worker.does(`const semaphore = new KeyedSemaphore(1, { name: workerData })
      my.release = (await semaphore.acquire('a'))[1]`)
    semaphore.release('a')
    await worker.does('my.release()')
    assert.ok(semaphore.tryAcquire('a'))
    await worker.dies()
    assert.equal(semaphore.tryAcquire('a'), undefined)
  })

  it('many threads with several objects each count without a lost update', async () => {
    const seen = new Int32Array(new SharedArrayBuffer(40))
    const work = async () => {
      const maps = [1, 2].map(() => new KeyedMutex({ name: workerData[0] }))
      const seen = workerData[1]
      const task = async (t) => {
        for (let i = 0; i < 300; i++) {
          const key = (i + t) % 10
          await maps[i % 2].runExclusive(key, async () => {
            const before = seen[key]
            if (i % 7 === 0) await null
            seen[key] = before + 1
          })
        }
      }
      await Promise.all([0, 1, 2, 3].map(task))
    }
    const code = `await (${work})()`
    await Promise.all([1, 2, 3, 4].map(() => agent([name, seen]).does(code)))
    assert.deepEqual([...seen], Array(10).fill(480))
    assert.equal(locks.size, 0)
  })

  it('two evaluations of the package share names', async () => {
    const code = `
      const again = () => {
        for (const path of Object.keys(require.cache)) {
          if (!path.endsWith('.node')) delete require.cache[path]
        }
        return require(entry)
      }
      const mutexes = [new Mutex({ name: 'm' })]
      for (let i = 0; i < 3; i++) mutexes.push(new (again().Mutex)({ name: 'm' }))
      const order = []
      await Promise.all(mutexes.map(async (mutex, i) => {
        const release = await mutex.acquire()
        await turn()
        order.push(mutexes.filter((one) => one.tryLock()).length)
        release()
      }))
      show(order)`
    assert.deepEqual(await inChild(code), [[0, 0, 0, 0]])
  })
})

describe('names: memory', function () {
  this.timeout(120_000)
  const cases = {
    'a million keys': `const locks = new KeyedMutex({ name: 'n' })
      const round = (r) => {
        for (let i = 0; i < 250_000; i++) { locks.tryLock(r + ' ' + i); locks.unlock(r + ' ' + i) }
      }`,
    '100,000 names': `const round = async (r) => {
        for (let i = 0; i < 25_000; i++) {
          const mutex = new Mutex({ name: r + ' ' + i })
          if (mutex.tryLock()) mutex.unlock()
          if (i % 1000 === 0) await turn()
        }
      }`,
  }
  for (const [name, code] of Object.entries(cases)) {
    it(`does not grow with ${name}`, async () => {
      const all = `${code}; show(await growth(round, { bytes: 2e6 }))`
      const [{ bytes }] = await inChild(all, '--expose-gc')
      assert.ok(bytes < 2e6, `${bytes} bytes more`)
    })
  }

  it('keyed maps forget thousands of keys, one after the other, each once', async () => {
    const name = freshName()
    const maps = {
      semaphore: new KeyedSemaphore(1, { name }),
      mutex: new KeyedMutex({ name }),
      rwLock: new KeyedRWLock({ name }),
    }
    for (let i = 0; i < 3000; i++) {
      const [, release] = await maps.semaphore.acquire(i)
      release()
      await maps.mutex.runExclusive(i, () => {})
      await maps.rwLock.runExclusive(i, () => {})
    }
    for (const [kind, map] of Object.entries(maps)) assert.equal(map.size, 0, kind)
  })
})
