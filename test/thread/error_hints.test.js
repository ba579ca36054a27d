'use strict'
// What errors say beyond their code.
const assert = require('node:assert/strict')
const boxoffice = require('../..')
const { useWarnings } = require('../helpers/warnings.js')

const { KeyedMutex, KeyedRWLock, KeyedSemaphore, Mutex, RWLock, Semaphore, SingleFlight } =
  boxoffice
const messageOf = async (promise) => (await promise.then(assert.fail, (error) => error)).message
const never = () => new Promise(() => {})

describe('a timeout that is not whole milliseconds', () => {
  useWarnings('BOXOFFICE_TOO_MANY_UNITS')

  const limits = { timeout: 1.0000000001 }

  it('is rounded in the error', async () => {
    const mutex = new Mutex()
    const keys = new KeyedMutex()
    await mutex.acquire()
    await keys.acquire('a')
    const flight = new SingleFlight()
    const waits = [
      mutex.acquire(limits),
      keys.acquire(['a', 'b'], limits),
      new boxoffice.Barrier(2).wait(limits),
      new boxoffice.CountdownLatch(1).wait(limits),
      flight.do('a', never, limits),
    ]
    for (const message of await Promise.all(waits.map(messageOf))) assert.match(message, / 1 ms\b/)
  })
})

describe('a lone number', () => {
  useWarnings('BOXOFFICE_TOO_MANY_UNITS')

  describe('in place of the options of a keyed lock', () => {
    const expected = {
      name: 'TypeError',
      message:
        'options must be an object; for a timeout: { timeout: 2000 }; for a priority: { priority: 2000 }',
    }
    const callsOf = (mutexes, rwLocks, semaphores) => [
      (key) => mutexes.acquire(key, 2000),
      (key) => mutexes.runExclusive(key, assert.fail, 2000),
      (key) => mutexes.executeLocked(key, assert.fail, 2000),
      () => mutexes.lock('a', 2000),
      () => mutexes.waitForUnlock('a', 2000),
      (key) => rwLocks.acquireRead(key, 2000),
      (key) => rwLocks.acquireWrite(key, 2000),
      (key) => rwLocks.runShared(key, assert.fail, 2000),
      (key) => rwLocks.runExclusive(key, assert.fail, 2000),
      (key) => semaphores.acquire(key, 1, 2000),
      (key) => semaphores.runExclusive(key, assert.fail, 1, 2000),
      (key) => semaphores.executeLocked(key, assert.fail, 1, 2000),
      () => semaphores.waitForUnlock('a', 1, 2000),
    ]
    const settings = {
      'of one thread': [{}, {}, {}],
      'with defaults': [{ timeout: 1 }, { timeout: 1 }, { timeout: 1 }],
      'of several threads': [{ name: 'hint m' }, { name: 'hint rw' }, { name: 'hint s' }],
    }

    for (const [title, [forMutexes, forRWLocks, forSemaphores]] of Object.entries(settings)) {
      it(`is refused with what it may mean, and nothing is locked, ${title}`, async () => {
        const all = [
          new KeyedMutex(forMutexes),
          new KeyedRWLock(forRWLocks),
          new KeyedSemaphore(2, forSemaphores),
        ]
        for (const call of callsOf(...all)) {
          for (const key of ['a', ['a', 'b']]) await assert.rejects(async () => call(key), expected)
        }
        for (const map of all) assert.equal(map.size, 0)
      })
    }
  })

  const hint = /; for a priority: \{ priority: 5 \}$/

  it('that is above the units of a semaphore is hinted to be no priority', async () => {
    const semaphore = new Semaphore(2, { timeout: 1 })
    const message = await messageOf(semaphore.acquire(5))
    assert.equal(
      message,
      'the semaphore was not available within 1 ms: it has 2 units in all; for a priority: { priority: 5 }',
    )
    assert.throws(() => new KeyedSemaphore(2).acquire('a', 5), {
      name: 'RangeError',
      message: hint,
    })
  })

  it('gets no such hint where a semaphore has no units of its own', async () => {
    const semaphore = new Semaphore(0, { timeout: 1 })
    assert.equal(
      await messageOf(semaphore.acquire()),
      'the semaphore was not available within 1 ms',
    )
  })

  it('gets no such hint if the semaphore had as many units', async () => {
    const semaphore = new Semaphore(0, { timeout: 1 })
    semaphore.release(5)
    await semaphore.acquire()
    assert.match(
      await messageOf(semaphore.acquire(5)),
      /within 1 ms; set BOXOFFICE_DIAGNOSTICS=1 to see who holds it$/,
    )
  })

  it('is hinted to be no options of blocking calls and lock managers', async () => {
    const expected = { name: 'TypeError', message: hint }
    const blocking = { allowBlockingMainThread: true }
    assert.throws(() => new Mutex(blocking).lockSync(5), expected)
    assert.throws(() => new RWLock(blocking).acquireReadSync(5), expected)
    assert.throws(() => boxoffice.locks.acquire('a', 5), expected)
    await assert.rejects(boxoffice.locks.request('a', 5, assert.fail), expected)
  })
})

describe('a wrong key', () => {
  it('is named with its map', async () => {
    const options = { name: 'seats' }
    const mutexes = new KeyedMutex(options)
    const rwLocks = new KeyedRWLock(options)
    const closed = new KeyedMutex(options)
    await closed.close()
    const calls = [
      (key) => mutexes.acquire(key),
      (key) => mutexes.acquire(['a', key]),
      (key) => mutexes.tryAcquire([key, 'a']),
      (key) => mutexes.unlock(key),
      (key) => mutexes.cancel(key),
      (key) => mutexes.isLocked(key),
      (key) => rwLocks.acquireRead(key),
      (key) => rwLocks.readers(key),
      (key) => new KeyedSemaphore(1, options).acquire(key),
      (key) => closed.acquire(key),
    ]
    const rule = 'a key in "seats" must be a string, a number or a bigint, not'
    for (const call of calls) {
      const messageFor = (key) => messageOf((async () => call(key))())
      assert.equal(await messageFor(undefined), `${rule} undefined`)
      assert.equal(await messageFor(new Date()), `${rule} Date`)
      assert.equal(await messageFor(NaN), 'a key in "seats" must not be NaN')
    }
  })
})

describe('the key in an error', () => {
  it('shows whether it is a string, a number or a bigint', async () => {
    const locks = new KeyedMutex()
    for (const key of ['1', 1, 1n]) locks.lock(key)
    const messageFor = (key) => messageOf(locks.acquire(key, { timeout: 0 }))
    assert.match(await messageFor('1'), /of key "1" was/)
    assert.match(await messageFor(1), /of key 1 was/)
    assert.match(await messageFor(1n), /of key 1n was/)
  })
})
