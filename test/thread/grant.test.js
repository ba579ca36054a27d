'use strict'
// The grant that callbacks get.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')
const boxoffice = require('../..')
const { freshName } = require('../helpers/agents.js')
const { scopes } = require('../helpers/scopes.js')

const { KeyedMutex, KeyedRWLock, KeyedSemaphore, LockManager, Mutex } = boxoffice
const { RecursiveMutex, RWLock, Semaphore, tryAcquire, withTimeout } = boxoffice

/** Each runs `callback`, which returns its arguments, and resolves to the grant among them. */
const ways = {
  'Mutex.runExclusive': (options, callback) => new Mutex(options).runExclusive(callback),
  'Mutex.executeLocked': (options, callback) => new Mutex(options).executeLocked(callback),
  'Mutex.runExclusiveSync': (options, callback) => new Mutex(options).runExclusiveSync(callback),
  'RecursiveMutex.runExclusive': (options, callback) => {
    const mutex = new RecursiveMutex(options)
    return mutex.runExclusive(() => mutex.runExclusive(callback))
  },
  'RecursiveMutex.runExclusiveSync': (options, callback) => {
    const mutex = new RecursiveMutex(options)
    return mutex.runExclusiveSync(() => mutex.runExclusiveSync(callback))
  },
  'RWLock.runShared': (options, callback) => new RWLock(options).runShared(callback),
  'RWLock.runExclusive': (options, callback) => new RWLock(options).runExclusive(callback),
  'RWLock.runSharedSync': (options, callback) => new RWLock(options).runSharedSync(callback),
  'RWLock.runExclusiveSync': (options, callback) => new RWLock(options).runExclusiveSync(callback),
  'KeyedMutex.runExclusive': (options, callback) =>
    new KeyedMutex(options).runExclusive('a', callback),
  'KeyedMutex.runExclusive of two': (options, callback) =>
    new KeyedMutex(options).runExclusive(['a', 'b'], callback),
  'KeyedMutex.runExclusiveSync': (options, callback) =>
    new KeyedMutex(options).runExclusiveSync('a', callback),
  'KeyedRWLock.runShared': (options, callback) => new KeyedRWLock(options).runShared('a', callback),
  'KeyedRWLock.runExclusive of two': (options, callback) =>
    new KeyedRWLock(options).runExclusive(['a', 'b'], callback),
}
const semaphoreWays = {
  'Semaphore.runExclusive': (options, callback) => new Semaphore(2, options).runExclusive(callback),
  'Semaphore.runExclusiveSync': (options, callback) =>
    new Semaphore(2, options).runExclusiveSync(callback),
  'KeyedSemaphore.runExclusive': (options, callback) =>
    new KeyedSemaphore(2, options).runExclusive('a', callback),
  'KeyedSemaphore.runExclusive of two': (options, callback) =>
    new KeyedSemaphore(2, options).runExclusive(['a', 'b'], callback),
  'KeyedSemaphore.runExclusiveSync': (options, callback) =>
    new KeyedSemaphore(2, options).runExclusiveSync('a', callback),
}

const given = (...all) => all

describe('The grant that callbacks get', () => {
  // test/cluster/engines_singles.test.js has the same over an engine.
  for (const scope of ['thread', 'process', 'host']) {
    describe(`in the scope ${scope}`, () => {
      const optionsOf = scopes[scope]()
      const blocking = async () => ({ ...(await optionsOf()), allowBlockingMainThread: true })

      /** Scope host draws the token when a holder reads it. */
      const seen = (...all) => [typeof all.at(-1).fencingToken, ...all]

      function check(way, grant, token) {
        assert.equal(grant.abandoned, false)
        assert.equal(grant.signal, undefined)
        assert.equal(token, scope === 'host' ? 'bigint' : 'undefined')
        if (scope === 'host' && way.endsWith('of two')) {
          assert.deepEqual([...grant.fencingTokens.keys()], ['a', 'b'])
        }
      }

      for (const [way, run] of Object.entries(ways)) {
        it(`is the argument: ${way}`, async () => {
          const [token, grant, ...others] = await run(await blocking(), seen)
          check(way, grant, token)
          assert.deepEqual(others, [])
        })
      }
      for (const [way, run] of Object.entries(semaphoreWays)) {
        it(`is the second argument: ${way}`, async () => {
          const [token, value, grant, ...others] = await run(await blocking(), seen)
          assert.equal([value].flat()[0], 2)
          check(way, grant, token)
          assert.deepEqual(others, [])
        })
      }
    })
  }

  it('is no releaser by which a read-write lock could be upgraded or downgraded', async () => {
    for (const [way, run] of Object.entries(ways)) {
      if (!/RWLock/.test(way)) continue
      const [grant] = await run({ allowBlockingMainThread: true }, given)
      assert.deepEqual(
        [typeof grant, grant.upgrade, grant.tryUpgrade, grant.upgradeSync, grant.downgrade],
        ['object', undefined, undefined, undefined, undefined],
        way,
      )
    }
  })

  it('can be copied', async () => {
    const { abandoned, fencingToken } = await new RWLock().runShared((grant) => ({ ...grant }))
    assert.deepEqual([abandoned, fencingToken], [false, undefined])
  })

  it('is the same for a waiter', async () => {
    const mutex = new Mutex()
    await mutex.lock()
    const waiting = mutex.runExclusive(given)
    mutex.unlock()
    assert.deepEqual((await waiting)[0].abandoned, false)
  })

  it('passes through withTimeout and tryAcquire', async () => {
    for (const decorate of [(lock) => withTimeout(lock, 1000), tryAcquire]) {
      const [grant] = await decorate(new Mutex()).runExclusive(given)
      assert.equal(grant.abandoned, false)
      const [value, second] = await decorate(new Semaphore(3)).runExclusive(given)
      assert.deepEqual([value, second.abandoned], [3, false])
    }
  })

  it('is in the Lock of a LockManager, whose signal aborts when it is stolen', async () => {
    const locks = new LockManager()
    const name = freshName()
    let signal
    const robbed = locks.request(name, (lock) => {
      assert.equal(lock.abandoned, false)
      assert.equal(lock.fencingToken, undefined)
      signal = lock.signal
      assert.equal(signal.aborted, false)
      return locks.request(name, { steal: true }, () => {})
    })
    await assert.rejects(robbed, { name: 'AbortError' })
    assert.equal(signal.aborted, true)
    assert.equal(signal.reason.name, 'AbortError')
  })

  for (const [Kind, acquire] of [
    ['Mutex', 'lock()'],
    ['RecursiveMutex', 'runExclusive(() => new Promise(() => {}))'],
    ['RWLock', 'acquireWrite()'],
    ['KeyedMutex', "lock('a')"],
  ]) {
    it(`reports that the last holder of a ${Kind} died, and only to the next holder`, async () => {
      const name = freshName()
      const lock = new boxoffice[Kind]({ name })
      const run = () =>
        Kind === 'KeyedMutex' ? lock.runExclusive('a', given) : lock.runExclusive(given)
      const worker = new Worker(
        `const { ${Kind} } = require(${JSON.stringify(require.resolve('../..'))})
        const lock = new ${Kind}({ name: ${JSON.stringify(name)} })
        lock.${acquire}
        setImmediate(() => require('node:worker_threads').parentPort.postMessage('held'))
        setInterval(() => {}, 1000)`,
        { eval: true },
      )
      await once(worker, 'message')
      const [first, second] = [run(), run()]
      await worker.terminate()
      assert.equal((await first)[0].abandoned, true)
      assert.equal((await second)[0].abandoned, false)
      assert.equal((await run())[0].abandoned, false)
    })
  }
})
