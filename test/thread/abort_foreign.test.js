'use strict'
// Signals that others use as well, or that are no AbortSignal of Node.js.
const assert = require('node:assert/strict')
const { getEventListeners } = require('node:events')
const boxoffice = require('../..')
const { freshName } = require('../helpers/agents.js')
const { scopes } = require('../helpers/scopes.js')
const { runInContext } = require('../helpers/vm_instances.js')

const { Barrier, ConditionVariable, CountdownLatch, KeyedMutex, LockManager, ManualResetEvent } =
  boxoffice
const { LeaderElection, Mutex, RWLock, Semaphore, SingleFlight, withTimeout } = boxoffice

const forEver = () => new Promise(() => {})

/** Releases what a test holds. */
let ends = []
const hold = (release) => ends.push(release)
afterEach(() => {
  for (const release of ends) release()
  ends = []
})

/** Each returns a promise of a wait with `limits` that only its signal can end. */
const waits = {
  'Mutex.acquire': (options, limits) => {
    const mutex = new Mutex(options)
    hold(mutex.tryAcquire())
    return mutex.acquire(limits)
  },
  'Mutex.waitForUnlock': (options, limits) => {
    const mutex = new Mutex(options)
    hold(mutex.tryAcquire())
    return mutex.waitForUnlock(limits)
  },
  'Semaphore.acquire': (options, limits) => {
    const semaphore = new Semaphore(1, options)
    hold(semaphore.tryAcquire()[1])
    return semaphore.acquire(limits)
  },
  'RWLock.acquireRead': (options, limits) => {
    const lock = new RWLock(options)
    hold(lock.tryAcquireWrite())
    return lock.acquireRead(limits)
  },
  'an upgrade': async (options, limits) => {
    const lock = new RWLock(options)
    const release = await lock.acquireRead()
    hold(release)
    hold(await lock.acquireRead())
    return release.upgrade(limits)
  },
  'KeyedMutex.acquire of several keys': (options, limits) => {
    const locks = new KeyedMutex(options)
    hold(locks.tryAcquire('b'))
    return locks.acquire(['a', 'b'], limits)
  },
  'ManualResetEvent.wait': (options, limits) => new ManualResetEvent(options).wait(limits),
  'CountdownLatch.wait': (options, limits) => new CountdownLatch(1, options).wait(limits),
  'Barrier.wait': (options, limits) => new Barrier(2, options).wait(limits),
  'ConditionVariable.wait': async (options, limits) => {
    const mutex = new Mutex(options)
    hold(mutex.tryAcquire())
    return new ConditionVariable(options).wait(mutex, limits)
  },
}

/** The same of one thread only. */
const waitsOfThread = {
  'Semaphore.map': (limits) => {
    const stopped = (_, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', resolve))
    return new Semaphore(1).map([1], stopped, limits)
  },
  'SingleFlight.do': (limits) => new SingleFlight().do('a', forEver, limits),
  'LockManager.acquire': (limits) => {
    const locks = new LockManager()
    // One manager serves the whole process, with the tests of other files.
    locks.request('foreign signal', () => new Promise(hold))
    return locks.acquire('foreign signal', limits)
  },
  withTimeout: (limits) => {
    const mutex = new Mutex()
    hold(mutex.tryAcquire())
    return withTimeout(mutex, 60_000).acquire(limits)
  },
}

/** As the polyfills of React Native and of some SDKs: it has no reason. */
class Polyfill extends EventTarget {
  aborted = false

  abort() {
    this.aborted = true
    this.dispatchEvent(new Event('abort'))
  }
}

/** Calls `act` while controllers make such signals. */
async function withPolyfill(act) {
  const real = globalThis.AbortController
  globalThis.AbortController = class {
    signal = new Polyfill()

    abort() {
      this.signal.abort()
    }
  }
  try {
    await act()
  } finally {
    globalThis.AbortController = real
  }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

async function endsWhenStopped(wait) {
  const controller = new AbortController()
  controller.signal.addEventListener('abort', (event) => event.stopImmediatePropagation())
  const ended = assert.rejects(wait({ signal: controller.signal }), (reason) => reason === 'mine')
  await nextTurn()
  controller.abort('mine')
  await ended
}

const isAbortError = ({ name, message }) =>
  name === 'AbortError' && message === 'This operation was aborted'

async function endsWithoutReason(wait) {
  const late = new Polyfill()
  const ended = assert.rejects(wait({ signal: late }), isAbortError)
  await nextTurn()
  late.abort()
  await ended
  await assert.rejects(async () => wait({ signal: late }), isAbortError)
}

/** Registers a test for each wait and scope. */
function inEachScope(check) {
  for (const [scope, begin] of Object.entries(scopes)) {
    if (scope === 'engine') continue
    describe(`scope ${scope}`, () => {
      const newOptions = begin()
      for (const [name, wait] of Object.entries(waits)) {
        it(name, async () => {
          await check(async (limits) => wait(await newOptions(), limits))
        })
      }
    })
  }
  for (const [name, wait] of Object.entries(waitsOfThread)) it(name, () => check(wait))
}

describe('a wait whose signal has a listener that stops the event', () => {
  inEachScope(endsWhenStopped)
})

describe('a wait whose signal tells no reason rejects with an AbortError', () => {
  inEachScope(endsWithoutReason)

  it('the same one for each wait', async () => {
    const signal = new Polyfill()
    const mutex = new Mutex()
    mutex.tryLock()
    const all = Array.from({ length: 2 }, () => mutex.acquire({ signal }))
    signal.abort()
    const [one, other] = await Promise.allSettled(all)
    assert.equal(one.reason, other.reason)
  })

  it('and a controller that keeps no reason does not hide a timeout', () =>
    withPolyfill(async () => {
      const locks = new KeyedMutex()
      locks.tryAcquire('b')
      await assert.rejects(locks.acquire(['a', 'b'], { timeout: 1 }), { code: 'ERR_LOCK_TIMEOUT' })
      const failed = new Error('failed')
      const map = new Semaphore(2).map([1, 2], () => Promise.reject(failed))
      await assert.rejects(map, (error) => error === failed)
    }))

  it('and a controller that keeps no reason does not hide the end of an election', () =>
    withPolyfill(async () => {
      const election = new LeaderElection({ scope: 'process', name: freshName() })
      let resign
      const leader = election.lead(() => new Promise((resolve) => (resign = resolve)))
      const candidate = election.lead(() => assert.fail('it led'))
      await nextTurn()
      const closed = election.close()
      assert.equal(await candidate, undefined)
      resign()
      await Promise.all([leader, closed])
      await assert.rejects(
        election.lead(() => {}),
        { code: 'ERR_LOCK_CLOSED' },
      )
    }))
})

/** A signal that aborts `other` when it is let go of. */
class AbortingSignal extends Polyfill {
  constructor(other) {
    super()
    this.other = other
  }

  removeEventListener(...args) {
    super.removeEventListener(...args)
    this.other.abort()
  }
}

describe('waits that end together, of which one aborts the signal of another', () => {
  const pair = () => {
    const other = new Polyfill()
    return [{ signal: new AbortingSignal(other) }, { signal: other }]
  }

  it('all resolve, and the mutex is free: waitForUnlock()', async () => {
    const mutex = new Mutex()
    await mutex.lock()
    const waits = pair().map((limits) => mutex.waitForUnlock(limits))
    mutex.unlock()
    await Promise.all(waits)
    assert.equal(mutex.isLocked(), false)
  })

  it('all pass: the parties of a barrier', async () => {
    const barrier = new Barrier(3)
    const waits = pair().map((limits) => barrier.wait(limits))
    assert.deepEqual(await Promise.all([...waits, barrier.wait()]), [2, 1, 0])
    assert.deepEqual([barrier.waiting, barrier.isBroken()], [0, false])
  })
})

/** The error of a signal that cannot be let go of. */
const stuck = new Error('removeEventListener() throws')

class StuckSignal extends Polyfill {
  removeEventListener() {
    throw stuck
  }
}

/** Returns the errors that `act` leaves as uncaught exceptions. */
async function uncaughtIn(act) {
  const thrown = []
  const usual = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  const hear = (error) => thrown.push(error)
  process.on('uncaughtException', hear)
  try {
    await act()
    await nextTurn()
  } finally {
    process.off('uncaughtException', hear)
    for (const listener of usual) process.on('uncaughtException', listener)
  }
  return thrown
}

describe('a wait is granted, and the error is an uncaught exception', () => {
  it('of its signal when its listener is removed, for one key or several', async () => {
    const locks = new KeyedMutex()
    const thrown = await uncaughtIn(async () => {
      for (const keys of ['b', ['a', 'b']]) {
        const release = await locks.acquire('b')
        const wait = locks.acquire(keys, { signal: new StuckSignal(), timeout: 60_000 })
        await nextTurn()
        release()
        ;(await wait)()
      }
    })
    assert.deepEqual([...locks.keys()], [])
    assert.deepEqual(thrown, [stuck, stuck])
  })

  it('of a replaced clock when its timer is cleared, for one key or several', async () => {
    const locks = new KeyedMutex()
    const { signal } = new AbortController()
    const { clearTimeout } = globalThis
    const thrown = await uncaughtIn(async () => {
      for (const keys of ['b', ['a', 'b']]) {
        const release = await locks.acquire('b')
        globalThis.clearTimeout = (timer) => {
          clearTimeout(timer)
          throw stuck
        }
        const wait = locks.acquire(keys, { signal, timeout: 60_000 })
        globalThis.clearTimeout = clearTimeout
        release()
        ;(await wait)()
      }
    })
    assert.deepEqual([...locks.keys()], [])
    assert.deepEqual(thrown, [stuck, stuck])
    assert.deepEqual(getEventListeners(signal, 'abort'), [])
  })
})

describe('a wait in a vm context whose Symbol.dispose is not that of Node.js', () => {
  it('leaves no listener behind when it is granted', async () => {
    const { value } = await runInContext(`
      const { Mutex } = require('..')
      const mutex = new Mutex()
      const { signal } = new AbortController()
      const release = await mutex.acquire()
      const wait = mutex.acquire({ signal })
      release()
      ;(await wait)()
      return signal`)
    await nextTurn()
    assert.equal(getEventListeners(value, 'abort').length, 0)
  })
})
