'use strict'
// Foreign locks and signals, and users that release the grants of others.
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { promisify } = require('node:util')
const asyncMutex = require('async-mutex')
const { Barrier, E_TIMEOUT, KeyedSemaphore, ManualResetEvent, Mutex } = require('../..')
const { RWLock, Semaphore, withTimeout } = require('../..')

function signalOf(methods) {
  return { aborted: false, addEventListener() {}, removeEventListener() {}, ...methods }
}

describe('withTimeout of a lock of another package', () => {
  for (const [name, lock] of [
    ['a Mutex of async-mutex', new asyncMutex.Mutex()],
    ['a Semaphore of async-mutex', new asyncMutex.Semaphore(1)],
  ]) {
    it(`ends the waits for ${name}, and gives back late grants`, async () => {
      const limited = withTimeout(lock, 5)
      await limited.acquire()
      await assert.rejects(limited.acquire(), E_TIMEOUT)
      await assert.rejects(limited.waitForUnlock(), E_TIMEOUT)
      lock.release()
      await limited.runExclusive(() => assert.equal(lock.isLocked(), true))
      assert.equal(lock.isLocked(), false)
    })
  }
})

describe('withTimeout', () => {
  it('leaves an unhandled rejection to the process', async () => {
    const script = `
      const { Mutex, withTimeout } = require(${JSON.stringify(require.resolve('../..'))})
      process.on('unhandledRejection', (error) => console.log(error.code))
      const mutex = new Mutex()
      mutex.tryLock()
      withTimeout(mutex, 1).acquire()`
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script])
    assert.equal(stdout, 'ERR_LOCK_TIMEOUT\n')
  })

  it('never ends a wait if the timeout is Infinity', async () => {
    const mutex = new Mutex()
    const release = await mutex.acquire()
    const waiting = withTimeout(mutex, Infinity).acquire()
    setTimeout(release, 5)
    ;(await waiting)()
  })
})

describe('a signal that throws when its listener is removed', () => {
  it('delays no other listener, and is reported', async () => {
    const heard = new Promise((resolve) => {
      const listeners = process.listeners('uncaughtException')
      process.removeAllListeners('uncaughtException')
      process.once('uncaughtException', (error) => {
        for (const listener of listeners) process.on('uncaughtException', listener)
        resolve(error)
      })
    })
    const thrown = new Error('from removeEventListener')
    const signal = signalOf({
      removeEventListener() {
        throw thrown
      },
    })
    const mutex = new Mutex()
    const release = await mutex.acquire()
    const waiting = mutex.acquire({ signal })
    release()
    ;(await waiting)()
    assert.equal(await heard, thrown)
    assert.equal(mutex.isLocked(), false)
  })

  it('may use the lock while its listener is removed', async () => {
    const semaphore = new Semaphore(2)
    semaphore.setValue(0)
    let third
    const signal = signalOf({
      removeEventListener() {
        third = semaphore.acquire(1)
      },
    })
    const first = semaphore.acquire({ signal })
    const second = semaphore.acquire()
    semaphore.release(2)
    assert.deepEqual([(await first)[0], (await second)[0]], [2, 1])
    semaphore.release()
    assert.equal((await third)[0], 1)
  })
})

describe('a signal that uses the lock while its listener is removed', () => {
  /** A signal that calls `act` then. */
  const calling = (act) => signalOf({ removeEventListener: act })

  it('may end the wait of the next holder of a mutex', async () => {
    const mutex = new Mutex()
    const release = await mutex.acquire()
    const next = mutex.acquire()
    mutex.waitForUnlock({ priority: 1, signal: calling(() => mutex.cancel()) })
    release()
    await assert.rejects(next, { code: 'ERR_LOCK_CANCELED' })
    assert.deepEqual(mutex.snapshot(), { locked: false, waiting: 0 })
  })

  it('may release a semaphore, too, while all who watch it are told', async () => {
    const semaphore = new Semaphore(2)
    const [, first] = await semaphore.acquire()
    const [, second] = await semaphore.acquire()
    const signals = [calling(second), signalOf({}), signalOf({})]
    const watching = signals.map((signal) => semaphore.waitForUnlock(1, { signal }))
    first()
    await Promise.all(watching)
    assert.equal(semaphore.getValue(), 2)
  })

  it('may call the releaser of units that release() has put back', async () => {
    const semaphore = new KeyedSemaphore(1)
    const [, release] = await semaphore.acquire('a')
    const order = []
    const watching = [calling(release), signalOf({}), signalOf({})].map((signal, i) =>
      semaphore.waitForUnlock('a', { signal }).then(() => order.push(i)),
    )
    semaphore.release('a')
    await Promise.all(watching)
    assert.deepEqual([...order, semaphore.getValue('a'), semaphore.size], [0, 1, 2, 1, 0])
  })

  it('may release a mutex again', async () => {
    const mutex = new Mutex()
    const release = await mutex.acquire()
    const next = mutex.acquire()
    const last = mutex.acquire()
    mutex.waitForUnlock({ priority: 1, signal: calling(() => release()) })
    release()
    const giveBack = await next
    assert.deepEqual(mutex.snapshot(), { locked: true, waiting: 1 })
    giveBack()
    const end = await last
    end()
    assert.equal(mutex.isLocked(), false)
  })

  it('may end the wait of the next holder of a semaphore', async () => {
    const semaphore = new Semaphore(1)
    const { release } = await semaphore.acquire()
    const next = semaphore.acquire()
    semaphore.waitForUnlock(1, { priority: 1, signal: calling(() => semaphore.cancel()) })
    release()
    await assert.rejects(next, { code: 'ERR_LOCK_CANCELED' })
    assert.deepEqual(semaphore.snapshot(), { value: 1, waiting: 0 })
  })

  it('may release the reader that it kept from its upgrade', async () => {
    const lock = new RWLock()
    const [reader, other] = [lock.tryAcquireRead(), lock.tryAcquireRead()]
    const upgrade = reader.upgrade({ signal: calling(() => reader()) })
    reader()
    await assert.rejects(upgrade, { code: 'ERR_LOCK_NOT_HELD' })
    assert.deepEqual([lock.readers, lock.tryAcquireWrite()], [1, undefined])
    other()
    assert.equal(lock.isLocked(), false)
  })

  it('may break a barrier whose round is complete', async () => {
    const barrier = new Barrier(3)
    const first = barrier.wait({ signal: calling(() => barrier.break()) })
    const second = barrier.wait()
    assert.deepEqual(await Promise.all([first, second, barrier.wait()]), [2, 1, 0])
    assert.equal(barrier.isBroken(), true)
  })

  it('may reset an event that is being set, and wait for it again', async () => {
    const event = new ManualResetEvent()
    let passed = 0
    const again = () => {
      event.reset()
      event.wait().then(() => passed++)
    }
    const wait = event.wait({ signal: calling(again) })
    event.set()
    await wait
    assert.deepEqual([passed, event.isSet()], [0, false])
    event.set()
    await null
    assert.equal(passed, 1)
  })
})

describe('a KeyedSemaphore released by its key in part', () => {
  it('never has more than at first', async () => {
    const places = new KeyedSemaphore(2)
    const [, release] = await places.acquire('a', 2)
    places.release('a')
    release()
    assert.equal(places.getValue('a'), 2)
    assert.equal(places.size, 0)
  })
})
