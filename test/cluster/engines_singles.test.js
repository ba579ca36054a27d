'use strict'
// Semaphore and RecursiveMutex over an engine, with a server in memory.
const assert = require('node:assert/strict')
const {
  KeyedMutex,
  KeyedRWLock,
  KeyedSemaphore,
  LockManager,
  Mutex,
  RecursiveMutex,
  RWLock,
  Semaphore,
} = require('../..')
const { timedWorld } = require('./helpers/fake_world.js')

describe('Semaphore over an engine', () => {
  const world = timedWorld()
  const semaphore = async (value, name = 'pool') =>
    new Semaphore(value, { engine: await world.newEngine(), name })

  it('is one for all objects of its name', async () => {
    const a = await semaphore(2)
    const b = await semaphore(2)
    const other = await semaphore(2, 'other')
    const [before, release] = await a.acquire(2)
    assert.equal(before, 2)
    assert.equal(a.getValue(), 0)
    assert.equal(a.isLocked(), true)
    await assert.rejects(b.acquire({ timeout: 0 }), {
      code: 'ERR_LOCK_TIMEOUT',
      message: 'the semaphore "pool" was not available within 0 ms',
    })
    await other.runExclusive(() => {}, 2)
    release()
    assert.equal(await b.runExclusive((value) => value), 2)
    assert.equal(a.getValue(), 2)
  })

  it('passes a lease on inside a process', async () => {
    const pool = await semaphore(2)
    let inside = 0
    let most = 0
    const work = () =>
      pool.runExclusive(async () => {
        most = Math.max(most, ++inside)
        await world.clock.settle() // until the server has answered for the second lease, too
        inside--
      })
    await Promise.all(Array.from({ length: 20 }, work))
    assert.equal(most, 2)
    assert.equal(world.count('enter'), 2)
  })

  it('gives units back by release()', async () => {
    const pool = await semaphore(3)
    await pool.acquire(2)
    pool.release(1)
    assert.equal(pool.getValue(), 2)
    pool.release(1)
    assert.equal(pool.getValue(), 3)
  })

  it('gives back one unit by release() by default, and refuses invalid weights', async () => {
    const pool = await semaphore(3)
    await Promise.all([pool.acquire(), pool.acquire(), pool.acquire()])
    for (const weight of [0, -1, 1.5, Number.NaN]) {
      assert.throws(() => pool.release(weight), RangeError)
    }
    assert.throws(() => pool.release('x'), TypeError)
    assert.equal(pool.getValue(), 0)
    pool.release()
    assert.equal(pool.getValue(), 1)
    await assert.rejects(pool.acquire(2, { timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
  })

  it('aborts the signal of a job of map() when its lease is lost', async () => {
    const engine = await world.newEngine()
    const pool = new Semaphore(2, { engine, name: 'pool' })
    const done = pool.map(['a'], async (_item, { signal }) => {
      await engine.close()
      signal.throwIfAborted()
    })
    await assert.rejects(done, { code: 'ERR_LOCK_LOST' })
  })

  it('names unsupported methods, and what to use instead', async () => {
    const pool = await semaphore(3)
    assert.throws(() => pool.setValue(4), { code: 'ERR_LOCK_UNSUPPORTED', message: /another name/ })
    assert.throws(() => pool.tryAcquire(), TypeError)
    assert.throws(() => pool.acquire(4), {
      name: 'RangeError',
      message:
        'weight 4 is more than the value 3 of the semaphore "pool"; for a priority: { priority: 4 }',
    })
    await assert.rejects(semaphore(0), { name: 'RangeError', message: /value must be 1 or more/ })
    await assert.rejects(semaphore(-1), RangeError)
    const engine = await world.newEngine()
    assert.throws(() => new Semaphore(1, { engine }), /needs a name/)
    assert.equal(pool.getValue(), 3)
  })

  it('refuses another value while it is in use', async () => {
    const [, release] = await (await semaphore(3)).acquire()
    await assert.rejects((await semaphore(4)).acquire(), { code: 'ERR_LOCK_MISMATCH' })
    release()
  })

  it('aborts the signal of each holder when the lease is lost', async () => {
    const engine = await world.newEngine()
    const pool = new Semaphore(2, { engine, name: 'pool' })
    const [, first] = await pool.acquire()
    const [, second] = await pool.acquire()
    const { signal } = first
    assert.equal(second.signal.aborted, false)
    await engine.close()
    assert.equal(signal.reason.code, 'ERR_LOCK_LOST')
    assert.equal(second.signal.aborted, true)
  })

  it('limits and maps', async () => {
    const pool = await semaphore(2)
    assert.deepEqual(await pool.map([1, 2, 3], (item) => item * 2), [2, 4, 6])
    assert.equal(await pool.limit((item) => item + 1)(1), 2)
  })
})

describe('RecursiveMutex over an engine', () => {
  const world = timedWorld()

  it('borrows once for the outermost hold', async () => {
    const account = new RecursiveMutex({ engine: await world.newEngine(), name: 'account' })
    await account.runExclusive(async () => {
      assert.equal(account.isHeld(), true)
      await account.runExclusive(() => account.runExclusive(() => {}))
      assert.equal(account.isLocked(), true)
    })
    assert.equal(account.isHeld(), false)
    assert.equal(account.isLocked(), false)
    assert.equal(world.count('enter'), 1)
  })

  it('keeps others out until the last caller from inside has ended', async () => {
    const mine = new RecursiveMutex({ engine: await world.newEngine(), name: 'account' })
    const theirs = new RecursiveMutex({ engine: await world.newEngine(), name: 'account' })
    const order = []
    let inner
    const outer = mine.runExclusive(() => {
      inner = mine.runExclusive(async () => {
        await null
        order.push('inner')
      })
    })
    await outer
    await theirs.runExclusive(() => order.push('theirs'))
    await inner
    assert.deepEqual(order, ['inner', 'theirs'])
  })

  it('can be entered again by an object with other options', async () => {
    const engine = await world.newEngine()
    const outer = new RecursiveMutex({ engine, name: 'account', diagnostics: 'counters' })
    const inner = new RecursiveMutex({ engine, name: 'account', fairness: 'fifo' })
    const value = await outer.runExclusive(() => inner.runExclusive(() => inner.isHeld()))
    assert.equal(value, true)
    assert.equal(outer.isHeld(), false)
  })

  it('is a different lock from a mutex of that name', async () => {
    const engine = await world.newEngine()
    const account = new RecursiveMutex({ engine, name: 'account' })
    await account.runExclusive(() => new Mutex({ engine, name: 'account' }).runExclusive(() => {}))
    await account.runExclusive(() => new KeyedMutex({ engine }).runExclusive('account', () => {}))
  })

  it('lets a waiter give up by its timeout', async () => {
    const mine = new RecursiveMutex({ engine: await world.newEngine(), name: 'account' })
    const theirs = new RecursiveMutex({ engine: await world.newEngine(), name: 'account' })
    await mine.runExclusive(async () => {
      const late = theirs.runExclusive(() => {}, { timeout: 5 })
      await assert.rejects(world.clock.until(late), { code: 'ERR_LOCK_TIMEOUT' })
    })
    await theirs.runExclusive(() => {})
  })

  it('goes to others when a callback throws', async () => {
    const mine = new RecursiveMutex({ engine: await world.newEngine(), name: 'account' })
    const broken = mine.runExclusive(() => {
      throw new RangeError('no such seat')
    })
    await assert.rejects(broken, { message: 'no such seat' })
    assert.equal(mine.isLocked(), false)
  })
})

describe('The grant that callbacks over an engine get', () => {
  const world = timedWorld()
  const name = 'told'
  const last = (...all) => all.at(-1)
  const ways = {
    Mutex: (engine) => new Mutex({ engine, name }).runExclusive(last),
    RecursiveMutex: (engine) => {
      const mutex = new RecursiveMutex({ engine, name })
      return mutex.runExclusive(() => mutex.runExclusive(last))
    },
    Semaphore: (engine) => new Semaphore(2, { engine, name }).runExclusive(last),
    RWLock: (engine) => new RWLock({ engine, name }).runShared(last),
    KeyedMutex: (engine) => new KeyedMutex({ engine }).runExclusive('a', last),
    KeyedSemaphore: (engine) => new KeyedSemaphore(2, { engine }).runExclusive('a', last),
    KeyedRWLock: (engine) => new KeyedRWLock({ engine }).runExclusive('a', last),
    LockManager: (engine) => new LockManager({ engine }).request('a', last),
  }
  for (const [kind, run] of Object.entries(ways)) {
    it(`${kind}: has a fencing token, a signal, and whether the last holder died`, async () => {
      const grant = await run(await world.newEngine())
      assert.equal(typeof grant.fencingToken, 'bigint')
      assert.equal(grant.signal.aborted, false)
      assert.equal(grant.abandoned, false)
    })
  }

  it('aborts its signal when the lease is lost', async () => {
    const engine = await world.newEngine()
    const reason = await new Mutex({ engine, name }).runExclusive(async ({ signal }) => {
      await engine.close()
      return signal.reason
    })
    assert.equal(reason.code, 'ERR_LOCK_LOST')
  })

  it('has the tokens of several keys', async () => {
    const mutex = new KeyedMutex({ engine: await world.newEngine() })
    const { fencingTokens } = await mutex.runExclusive(['a', 'b'], last)
    assert.deepEqual([...fencingTokens.keys()], ['a', 'b'])
  })
})

function abortable() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort(new Error('too late')) }
}

describe('A LockManager over an engine', () => {
  const world = timedWorld()

  it('calls no callback after an abort, however late the abort comes', async () => {
    const manager = new LockManager({ engine: await world.newEngine() })
    for (let turns = 0; turns < 12; turns++) {
      const held = await manager.acquire('a')
      const { signal, abort } = abortable()
      const late = manager.request('a', { signal }, () => assert.equal(signal.aborted, false))
      held()
      for (let turn = 0; turn < turns; turn++) await undefined
      abort()
      await late.catch((error) => assert.equal(error, signal.reason))
      assert.deepEqual(await manager.query(), { held: [], pending: [] })
    }
  })
})

describe('ifAvailable over an engine', () => {
  const world = timedWorld()
  const name = 'now'
  const now = { ifAvailable: true }
  /** A held lock of one engine, and the result that another engine gets. */
  const ways = {
    Mutex: async (mine, theirs) => {
      const release = await new Mutex({ engine: mine, name }).acquire()
      return { release, ask: () => new Mutex({ engine: theirs, name }).acquire(now) }
    },
    RecursiveMutex: async (mine, theirs) => {
      let release
      await new Promise((held) => {
        new RecursiveMutex({ engine: mine, name }).runExclusive(
          () =>
            new Promise((resolve) => {
              release = resolve
              held()
            }),
        )
      })
      const there = new RecursiveMutex({ engine: theirs, name })
      return { release, ask: () => there.runExclusive(() => () => {}, now) }
    },
    Semaphore: async (mine, theirs) => {
      const [, release] = await new Semaphore(2, { engine: mine, name }).acquire(2)
      const there = new Semaphore(2, { engine: theirs, name })
      return { release, ask: async () => (await there.acquire(now))?.[1] }
    },
    'RWLock, to read': async (mine, theirs) => {
      const release = await new RWLock({ engine: mine, name }).acquireWrite()
      return { release, ask: () => new RWLock({ engine: theirs, name }).acquireRead(now) }
    },
    'RWLock, to upgrade': async (mine, theirs) => {
      const release = await new RWLock({ engine: mine, name }).acquireRead()
      const there = new RWLock({ engine: theirs, name })
      const ask = async () => {
        const reader = await there.acquireRead()
        const writer = await reader.upgrade(now)
        reader()
        return writer
      }
      return { release, ask }
    },
    'KeyedMutex, several keys': async (mine, theirs) => {
      const release = await new KeyedMutex({ engine: mine }).acquire('b')
      return { release, ask: () => new KeyedMutex({ engine: theirs }).acquire(['a', 'b'], now) }
    },
    KeyedSemaphore: async (mine, theirs) => {
      const [, release] = await new KeyedSemaphore(1, { engine: mine }).acquire('a')
      const there = new KeyedSemaphore(1, { engine: theirs })
      return { release, ask: async () => (await there.acquire('a', now))?.[1] }
    },
    LockManager: async (mine, theirs) => {
      const release = await new LockManager({ engine: mine }).acquire('a')
      return { release, ask: () => new LockManager({ engine: theirs }).acquire('a', now) }
    },
  }
  for (const [kind, hold] of Object.entries(ways)) {
    it(`${kind}: acquires a free lock, else gives undefined`, async () => {
      const [mine, theirs] = [await world.newEngine(), await world.newEngine()]
      const { release, ask } = await hold(mine, theirs)
      assert.equal(await ask(), undefined)
      release()
      let got
      // The server gets the release in its own time.
      while (got === undefined) got = await ask()
      got()
    })
  }

  it('gives undefined if a caller of this thread has it, and leaves no waiter', async () => {
    const mutex = new Mutex({ engine: await world.newEngine(), name })
    const release = await mutex.acquire()
    assert.equal(await mutex.acquire(now), undefined)
    assert.equal(await mutex.runExclusive(assert.fail, now), undefined)
    assert.equal(mutex.snapshot().waiting, 0)
    release()
    await mutex.runExclusive(() => {})
  })

  it('rejects if the server does not answer', async () => {
    const engine = await world.newEngine({ answerTimeout: 500 })
    const mutex = new Mutex({ engine, name })
    world.server.trouble = new Promise(() => {})
    const asked = mutex.acquire(now)
    await assert.rejects(world.clock.until(asked), { code: 'ERR_LOCK_ENGINE' })
  })

  it('is named by the errors of the forms without a wait', async () => {
    const mutex = new Mutex({ engine: await world.newEngine(), name })
    assert.throws(() => mutex.tryAcquire(), /use acquire\(\) with \{ ifAvailable: true \}/)
  })
})
