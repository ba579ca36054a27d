'use strict'
const assert = require('node:assert/strict')
const fc = require('fast-check')
const { E_CANCELED, KeyedMutex, KeyedRWLock, KeyedSemaphore } = require('../..')
const { freshName } = require('../helpers/agents.js')
const { FakeClock } = require('../helpers/fake_clock.js')
const { apart, badKeys, busyIn, outcome, settled } = require('../helpers/keyed.js')

const unused = () => assert.fail('called')
/** The error that a call rejects with or throws. */
const failing = async (call) => await call()

describe('KeyedMutex: several keys at once', () => {
  let locks
  beforeEach(() => {
    locks = new KeyedMutex()
  })

  it('takes all of them, and releases all', async () => {
    const release = await locks.acquire(['b', 'a', 'c'])
    assert.deepEqual(busyIn(locks), new Set(['a', 'b', 'c']))
    for (const key of 'abc') assert.equal(locks.tryAcquire(key), undefined)
    assert.equal(release.abandoned, false)
    release()
    assert.equal(locks.size, 0)
  })

  it('drops duplicates, and distinguishes types', async () => {
    const release = await locks.acquire([...apart, ...apart, -0])
    assert.deepEqual(busyIn(locks), new Set(apart))
    assert.equal(locks.size, apart.length)
    release()
    assert.equal(locks.size, 0)
  })

  it('has a releaser that acts once, under any of its names', async () => {
    const ways = [
      (release) => release(),
      (release) => release.release(),
      (release) => release[Symbol.dispose](),
      (release) => release[Symbol.asyncDispose](),
    ]
    for (const way of ways) {
      for (const method of ['acquire', 'tryAcquire']) {
        const release = await locks[method](['a', 'b'])
        await way(release)
        assert.equal(locks.size, 0)
        const next = locks.tryAcquire(['b', 'c'])
        for (const again of ways) await again(release)
        assert.deepEqual(busyIn(locks), new Set(['b', 'c']))
        next()
      }
    }
  })

  it('waits for nothing without keys', async () => {
    const release = await locks.acquire([])
    release()
    locks.tryAcquire([])()
    assert.equal(await locks.runExclusive([], () => 1), 1)
    assert.equal(locks.size, 0)
  })

  it('rejects with the reason of a signal that is aborted already, even for no keys', async () => {
    const reason = new Error('mine')
    const options = { signal: AbortSignal.abort(reason) }
    await assert.rejects(locks.acquire(['a', 'b'], options), reason)
    await assert.rejects(locks.runExclusive(['a'], unused, options), reason)
    await assert.rejects(locks.acquire([], options), reason)
    assert.equal(locks.size, 0)
  })

  it('reads the keys once', async () => {
    locks.tryLock('a')
    const keys = ['b', 'a']
    const wait = locks.acquire(keys)
    keys.push('c')
    keys[0] = 'd'
    locks.unlock('a')
    const release = await wait
    assert.deepEqual(busyIn(locks), new Set(['a', 'b']))
    release()
  })

  it('calls an iterator of the array once', async () => {
    const oneTime = () => {
      const keys = ['b', 'a']
      const iterator = keys.values()
      return Object.assign(keys, { [Symbol.iterator]: () => iterator })
    }
    for (const acquire of ['acquire', 'tryAcquire']) {
      const release = await locks[acquire](oneTime())
      assert.deepEqual(busyIn(locks), new Set(['a', 'b']))
      release()
    }
  })

  for (const [name, key, expected] of [...badKeys, ['an array', ['a'], TypeError]]) {
    it(`refuses ${name} among keys at once, and takes none`, async () => {
      for (const keys of [[key], ['a', key], [key, 'z'], [1, key, 'z']]) {
        assert.throws(() => locks.tryAcquire(keys), expected)
        assert.equal(locks.size, 0)
        await assert.rejects(
          failing(() => locks.acquire(keys)),
          expected,
        )
        await assert.rejects(locks.runExclusive(keys, unused), expected)
        assert.equal(locks.size, 0)
        // At once, not only when the keys before it are available.
        for (const busy of ['a', 'z', 1]) locks.lock(busy)
        const late = outcome(failing(() => locks.acquire(keys)))
        await settled()
        assert.equal(late.state, 'rejected')
        for (const busy of ['a', 'z', 1]) locks.release(busy)
      }
    })
  }

  it('takes none with invalid options', async () => {
    for (const options of [null, { timeout: -1 }, { priority: 'x' }, { signal: {} }, NaN]) {
      await assert.rejects(failing(() => locks.acquire(['a', 'b'], options)))
      await assert.rejects(locks.runExclusive(['a', 'b'], unused, options))
    }
    await assert.rejects(locks.runExclusive(['a', 'b'], 'no function'), TypeError)
    // Of several keys a call never throws: it rejects.
    const number = { name: 'TypeError', message: /^options must be an object; for a timeout/ }
    for (const lateness of [{}, { timeout: 1000 }]) {
      const mutexes = new KeyedMutex(lateness)
      const rwLocks = new KeyedRWLock(lateness)
      const semaphores = new KeyedSemaphore(2, lateness)
      await assert.rejects(mutexes.acquire(['a', 'b'], 5), number)
      await assert.rejects(rwLocks.acquireRead(['a', 'b'], 5), number)
      await assert.rejects(rwLocks.acquireWrite(['a', 'b'], 5), number)
      await assert.rejects(semaphores.acquire(['a', 'b'], 1, 5), number)
      await assert.rejects(semaphores.acquire(['a', 'b'], 3), RangeError)
      assert.throws(() => mutexes.acquire('a', 5), number)
      assert.throws(() => rwLocks.acquireRead('a', 5), number)
      assert.throws(() => semaphores.acquire('a', 1, 5), number)
    }
    assert.equal(locks.size, 0)
  })

  it('tryAcquire takes all or none', () => {
    for (const busy of ['a', 'b', 'c']) {
      locks.tryLock(busy)
      assert.equal(locks.tryAcquire(['a', 'b', 'c']), undefined)
      assert.deepEqual(busyIn(locks), new Set([busy]))
      locks.unlock(busy)
    }
  })

  it('has one timeout for all of them together', async () => {
    const clock = new FakeClock()
    try {
      for (const key of 'abc') locks.tryLock(key)
      const wait = outcome(locks.acquire(['c', 'a', 'b', 1], { timeout: 60 }))
      // Each of them is available within the timeout, but not all.
      for (const key of 'ab') {
        clock.advance(25)
        await settled()
        assert.equal(wait.state, 'pending')
        locks.unlock(key)
        await settled()
      }
      clock.advance(9)
      await settled()
      assert.equal(wait.state, 'pending')
      clock.advance(1)
      await settled()
      assert.equal(wait.reason.code, 'ERR_LOCK_TIMEOUT')
      assert.match(wait.reason.message, /keys 1, "a", "b", "c" were not .* within 60 ms/)
      assert.deepEqual(busyIn(locks), new Set(['c']))
    } finally {
      clock.restore()
    }
  })

  it('with a timeout of 0 takes free keys, or rejects before the turn is over', async () => {
    for (const options of [{}, { name: freshName() }]) {
      const map = new KeyedMutex(options)
      map.tryLock('c')
      const wait = outcome(map.acquire(['b', 'c'], { timeout: 0 }))
      for (let i = 0; i < 20; i++) await null
      assert.equal(wait.reason?.code, 'ERR_LOCK_TIMEOUT')
      const place = options.name === undefined ? '' : ` in "${options.name}"`
      assert.match(wait.reason.message, new RegExp(`keys "b", "c"${place} were not .* within 0 ms`))
      assert.deepEqual(busyIn(map), new Set(['c']))
      const release = await map.acquire(['a', 'b'], { timeout: 0 })
      release()
      map.unlock('c')
      assert.equal(map.size, 0)
    }
  })

  it('leaves no timer behind, nor a listener', async () => {
    const { setTimeout, clearTimeout } = globalThis
    const timers = new Set()
    let listeners = 0
    const signal = {
      aborted: false,
      addEventListener: () => listeners++,
      removeEventListener: () => listeners--,
    }
    globalThis.setTimeout = () => {
      const timer = { unref() {} }
      timers.add(timer)
      return timer
    }
    globalThis.clearTimeout = (timer) => timers.delete(timer)
    try {
      const release = await locks.acquire(['a', 'b'], { timeout: 1000 })
      assert.equal(timers.size, 0)
      const waits = locks.acquire(['a', 'b'], { timeout: 1000 })
      await settled()
      assert.equal(timers.size, 1)
      const also = locks.acquire(['a', 'b'], { signal })
      await settled()
      assert.equal(listeners, 1)
      locks.cancelAll()
      await assert.rejects(waits, E_CANCELED)
      await assert.rejects(also, E_CANCELED)
      assert.equal(timers.size, 0)
      // A custom signal may stand beside a timeout, too.
      const both = locks.acquire(['a', 'b'], { timeout: 1000, signal })
      await settled()
      assert.equal(listeners, 1, 'it is not listened to')
      locks.cancelAll()
      await assert.rejects(both, E_CANCELED)
      assert.equal(timers.size, 0)
      assert.equal(listeners, 0)
      release()
    } finally {
      Object.assign(globalThis, { setTimeout, clearTimeout })
    }
  })

  for (const options of [{}, { timeout: 1000 }]) {
    it(`gives back its keys when aborted half-way, with ${JSON.stringify(options)}`, async () => {
      locks.tryLock('b')
      const controller = new AbortController()
      const wait = outcome(
        locks.acquire(['a', 'b', 'c'], { ...options, signal: controller.signal }),
      )
      await settled()
      assert.deepEqual(busyIn(locks), new Set(['a', 'b']))
      const next = outcome(locks.acquire('a'))
      const reason = new Error('mine')
      controller.abort(reason)
      await settled()
      assert.equal(wait.reason, reason)
      assert.equal(next.state, 'fulfilled')
      next.value()
      assert.deepEqual(locks.snapshot(), [{ key: 'b', locked: true, waiting: 0 }])
    })
  }

  it('gives back its keys when cancelled half-way', async () => {
    locks.tryLock('b')
    const wait = outcome(locks.acquire(['a', 'b', 'c']))
    await settled()
    locks.cancel('a')
    await settled()
    assert.equal(wait.state, 'pending')
    locks.cancel('b')
    await settled()
    assert.equal(wait.reason, E_CANCELED)
    assert.deepEqual(busyIn(locks), new Set(['b']))
  })

  it('waits with its priority for each', async () => {
    for (const key of 'ab') locks.tryLock(key)
    const low = outcome(locks.acquire(['a', 'b']))
    const high = outcome(locks.acquire(['a', 'b'], { priority: 1 }))
    await settled()
    locks.unlock('a')
    await settled()
    locks.unlock('b')
    await settled()
    assert.equal(high.state, 'fulfilled')
    assert.equal(low.state, 'pending')
    high.value()
    await settled()
    low.value()
  })

  it('runExclusive releases all, however the callback ends', async () => {
    assert.equal(await locks.runExclusive(['a', 'b'], async () => locks.size), 2)
    const error = new Error('mine')
    const fail = () => {
      throw error
    }
    await assert.rejects(locks.runExclusive(['a', 'b'], fail), error)
    assert.equal(await locks.executeLocked(['b', 'a'], () => 7), 7)
    assert.equal(locks.size, 0)
  })

  it('never deadlocks and never admits two callers to one key, in any order', async () => {
    const keys = [0, 1, 2n, 3n, '0', '1', 'a', 'b']
    const wish = fc.array(fc.constantFrom(...keys), { maxLength: 5 })
    const crowd = fc.array(wish, { minLength: 2, maxLength: 12 })
    const enter = async (wanted, inside) => {
      const release = await locks.acquire(wanted)
      for (const key of new Set(wanted)) {
        assert.ok(!inside.has(key), `oracle: two in ${String(key)}`)
        inside.add(key)
      }
      await null
      for (const key of wanted) inside.delete(key)
      release()
    }
    const run = async (wishes) => {
      const inside = new Set()
      const all = outcome(Promise.all(wishes.map((wanted) => enter(wanted, inside))))
      await settled()
      if (all.state === 'rejected') throw all.reason
      // Microtasks suffice: a caller that still waits will wait for ever.
      assert.equal(all.state, 'fulfilled', 'deadlock')
      assert.equal(locks.size, 0)
    }
    await fc.assert(fc.asyncProperty(crowd, run), { numRuns: 3000 })
  })
})

describe('A class derived from a keyed lock', () => {
  /** Prefixes each key. */
  const ofTenant = (key) => [].concat(key).map((one) => `tenant:${one}`)
  const derived = {
    KeyedMutex: class extends KeyedMutex {
      acquire(key, ...rest) {
        return super.acquire(ofTenant(key), ...rest)
      }
    },
    KeyedRWLock: class extends KeyedRWLock {
      acquireWrite(key, ...rest) {
        return super.acquireWrite(ofTenant(key), ...rest)
      }
    },
    KeyedSemaphore: class extends KeyedSemaphore {
      constructor() {
        super(1)
      }

      acquire(key, ...rest) {
        return super.acquire(ofTenant(key), ...rest)
      }
    },
  }

  for (const [name, Class] of Object.entries(derived)) {
    it(`has its own acquire() called for one key as for several: ${name}`, async () => {
      const locks = new Class()
      const keysOf = (key) => locks.runExclusive(key, () => [...locks.keys()])
      assert.deepEqual(await keysOf('a'), ['tenant:a'])
      assert.deepEqual(await keysOf(['a', 'b']), ['tenant:a', 'tenant:b'])
    })
  }
})
