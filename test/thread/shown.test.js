'use strict'
// What people look at: printed locks and releasers, wrong values in errors, isLockError() with a code.
const assert = require('node:assert/strict')
const { inspect } = require('node:util')
const boxoffice = require('../..')
const { scopes } = require('../helpers/scopes.js')

const { AutoResetEvent, isLockError, KeyedMutex, KeyedRWLock, KeyedSemaphore, Mutex } = boxoffice
const { ConditionVariable, CountdownLatch, locks, RecursiveMutex, RWLock, Semaphore, withTimeout } =
  boxoffice

describe('a printed lock', () => {
  for (const [scope, use] of Object.entries(scopes)) {
    describe(`of the scope ${scope}`, () => {
      const optionsOf = use()
      const shownScope = scope === 'engine' ? 'cluster' : scope

      /** The text of `make(options)`; at scope host the processes come behind. */
      async function textOf(make) {
        const options = await optionsOf()
        const text = inspect(make(options), { breakLength: Infinity, compact: true })
        const name = options.name === undefined ? '' : `name: '${options.name}', `
        return { text, head: `{ ${name}scope: '${shownScope}', ` }
      }

      const shown = {
        Mutex: [(options) => new Mutex(options), 'locked: false, waiting: 0'],
        RecursiveMutex: [(options) => new RecursiveMutex(options), 'locked: false, waiting: 0'],
        Semaphore: [(options) => new Semaphore(2, options), 'value: 2, waiting: 0'],
        RWLock: [(options) => new RWLock(options), 'readers: 0, written: false, waiting: 0'],
        KeyedMutex: [(options) => new KeyedMutex(options), 'size: 0'],
        KeyedSemaphore: [(options) => new KeyedSemaphore(2, options), 'size: 0'],
        KeyedRWLock: [(options) => new KeyedRWLock(options), 'size: 0'],
      }
      for (const [title, [make, state]] of Object.entries(shown)) {
        it(`tells the name, the scope and the state of a ${title}`, async () => {
          const { text, head } = await textOf(make)
          assert.ok(text.startsWith(`${title} ${head}${state}`), text)
        })
      }

      if (scope === 'engine') return

      it('tells the name and the scope of an event', async () => {
        const { text, head } = await textOf((options) => new AutoResetEvent(options))
        assert.equal(text, `AutoResetEvent ${head.slice(0, -2)} }`)
      })
    })
  }

  it('tells what changes, the name of a derived class, and no figures of diagnostics', async () => {
    class Till extends Mutex {}
    const till = new Till({ diagnostics: 'counters' })
    const release = await till.acquire()
    till.acquire()
    const text = inspect(till, { breakLength: Infinity })
    assert.match(text, /^Till \{ scope: 'thread', locked: true, waiting: 1, holders: \[/)
    assert.doesNotMatch(text, /totals|waits/)
    release()
  })

  it('leaves the prototype of its class alone', () => {
    for (const Class of [Mutex, KeyedMutex]) assert.equal(typeof inspect(Class.prototype), 'string')
  })
})

describe('a printed releaser', () => {
  const acquires = {
    Mutex: () => new Mutex().acquire(),
    'Mutex of several threads': () => new Mutex({ shared: true }).acquire(),
    Semaphore: async () => (await new Semaphore(1).acquire())[1],
    'Semaphore of several threads': async () =>
      (await new Semaphore(1, { shared: true }).acquire())[1],
    'RWLock, to read': () => new RWLock().acquireRead(),
    'RWLock, to write': () => new RWLock().acquireWrite(),
    'KeyedMutex, of several keys': () => new KeyedMutex().acquire(['a', 'b']),
  }
  for (const [title, acquire] of Object.entries(acquires)) {
    it(`of a ${title} is a Releaser`, async () => {
      const text = inspect(await acquire(), { depth: 5 })
      assert.match(text, /\[Function: Releaser\]/)
      assert.doesNotMatch(text, /Local|queue/)
    })
  }
})

describe('the ticket of a semaphore', () => {
  for (const [title, options] of Object.entries({
    'one thread': {},
    'several threads': { shared: true },
  })) {
    it(`puts the units back by release(), once, in ${title}`, async () => {
      const semaphore = new Semaphore(3, options)
      const ticket = await semaphore.acquire(2)
      ticket.release()
      assert.equal(semaphore.getValue(), 3)
      ticket.release()
      assert.equal(semaphore.getValue(), 3)
    })
  }

  it('of several keys puts back the units of each', async () => {
    const semaphores = new KeyedSemaphore(2)
    const ticket = await semaphores.acquire(['a', 'b'])
    assert.deepEqual([...ticket].slice(0, 1), [[2, 2]])
    ticket.release()
    assert.equal(semaphores.size, 0)
  })
})

describe('isLockError() with a code', () => {
  it('is true for that code only', () => {
    assert.equal(isLockError(boxoffice.E_TIMEOUT, 'ERR_LOCK_TIMEOUT'), true)
    assert.equal(isLockError(boxoffice.E_TIMEOUT, 'ERR_LOCK_CANCELED'), false)
    assert.equal(isLockError(boxoffice.E_TIMEOUT, undefined), true)
    const foreign = Object.assign(new Error('foreign'), { code: 'ENOENT' })
    assert.equal(isLockError(foreign, 'ENOENT'), false)
  })
})

describe('a wrong value', () => {
  const hostile = {
    get [Symbol.toStringTag]() {
      throw new Error('mine')
    },
  }
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const cases = [
    [
      () => new Mutex('orders'),
      'options must be an object, not a string: did you mean { name: "orders" }?',
    ],
    [
      () => new Mutex().acquire({ timeout: '5s' }),
      'timeout must be a number of milliseconds, not "5s": did you mean 5000?',
    ],
    [
      () => new Mutex().acquire({ timeout: '250 ms' }),
      'timeout must be a number of milliseconds, not "250 ms": did you mean 250?',
    ],
    [
      () => new Mutex().acquire({ timeout: 'soon' }),
      'timeout must be a number of milliseconds, not "soon"',
    ],
    [
      () => new Mutex().acquire({ timeout: null }),
      'timeout must be a number of milliseconds, not null',
    ],
    [
      () => new Mutex().acquire({ timeout: {} }),
      'timeout must be a number of milliseconds, not an object',
    ],
    [
      () => new Mutex({ timeout: '1m' }),
      'timeout must be a number of milliseconds, not "1m": did you mean 60000?',
    ],
    [() => new Mutex().acquire({ priority: 'high' }), 'priority must be a number, not "high"'],
    [() => new Mutex().acquire({ signal: null }), 'signal must be an AbortSignal, not null'],
    [() => new Mutex({ name: 5n }), 'name must be a string, not 5n'],
    [() => new Mutex({ name: Symbol('a') }), 'name must be a string, not Symbol(a)'],
    [
      () => new Mutex({ buffer: new ArrayBuffer(8) }),
      'buffer must be a SharedArrayBuffer, not ArrayBuffer',
    ],
    [() => new Mutex({ fairness: true }), "fairness must be 'bounded' or 'fifo', not true"],
    [() => new Semaphore('3'), 'value must be a number, not "3"'],
    [() => new Semaphore(3n), 'value must be a number, not 3n'],
    [() => new Semaphore(1).acquire('1'), 'weight must be a number, not "1"'],
    [() => new Semaphore(1).runExclusive(() => {}, '1'), 'weight must be a number, not "1"'],
    [() => new KeyedSemaphore(1).acquire('a', '1'), 'weight must be a number, not "1"'],
    [() => withTimeout(new Semaphore(1), 5).acquire('1'), 'weight must be a number, not "1"'],
    [() => new Mutex().runExclusive(), 'callback must be a function, not undefined'],
    [() => new Mutex().runExclusive(['a']), 'callback must be a function, not Array'],
    [() => new Mutex(() => {}), 'options must be an object, not a function'],
    [() => new Mutex().acquire('5s'), 'options must be an object, not a string'],
    [
      () => new Mutex().acquire({ priority: 'high'.repeat(1e6) }),
      `priority must be a number, not "${'high'.repeat(12)}hi…"`,
    ],
    [() => new Mutex({ name: hostile }), 'name must be a string, not an object'],
    [() => new Mutex({ name: revoked.proxy }), 'name must be a string, not an object'],
    [
      () => new CountdownLatch(1, new Error('mine')),
      /^unknown option "cancelError": a lock with cancel\(\) has it/,
    ],
    [
      () => new KeyedMutex({ shared: true }),
      'a keyed lock is shared by its name: give it { name }, the same in each thread, and neither buffer nor shared',
    ],
    [
      () => new KeyedRWLock({ scope: 'process' }),
      "a lock of scope 'process' needs a name by which threads find it, or, without keys, a buffer or { shared: true }: leave scope out for one thread",
    ],
    [
      () => new Mutex({ engine: 'redis://localhost', name: 'a' }),
      'engine must be what redis(client) or another function of an engine returns, not a string',
    ],
    [() => new ConditionVariable().wait(), 'mutex must be a Mutex, not undefined'],
    [() => locks.acquire(), 'the name is missing: acquire() takes (name, options)'],
    [
      () => new Mutex({ scope: 'host', name: 'a', maxHold: '30s' }),
      'maxHold must be a number of milliseconds, not "30s": did you mean 30000?',
    ],
    [
      () => new Mutex({ warnAfter: '1 m' }),
      'warnAfter must be a number of milliseconds, not "1 m": did you mean 60000?',
    ],
    [
      () => withTimeout(new Mutex(), '5s'),
      'timeout must be a number of milliseconds, not "5s": did you mean 5000?',
    ],
    [() => new Mutex({ byteOffset: 8 }), 'byteOffset is for a lock with a buffer'],
    [
      () => new Mutex().runExclusive(Promise.resolve()),
      'callback must be a function, not a Promise, whose work has begun: pass () => work()',
    ],
    [
      () => new KeyedMutex().runExclusive('a', Promise.resolve()),
      'callback must be a function, not a Promise, whose work has begun: pass () => work()',
    ],
    [
      () => new Mutex({ ttl: 5000 }),
      /^unknown option "ttl": it is an option of the engine; a lock has maxHold \(/,
    ],
    [() => new KeyedMutex({ lease: 5000 }), /^unknown option "lease": did you mean maxHold\? /],
    [
      () => new Mutex({ scope: 'machine', name: 'a' }),
      "scope must be 'process' or 'host', not \"machine\": leave it out for one thread, or take an engine for several machines",
    ],
  ]
  for (const [call, message] of cases) {
    it(`is quoted with what was meant: ${message}`, async () => {
      await assert.rejects(async () => call(), { name: 'TypeError', message })
    })
  }
})
