'use strict'
// Calls within a few frames of the end of the stack: each either succeeds, or throws and changes nothing.
const assert = require('node:assert/strict')
const boxoffice = require('../..')
const { AutoResetEvent, Barrier, ConditionVariable, CountdownLatch, DiningPhilosophers } = boxoffice
const { KeyedMutex, KeyedRWLock, KeyedSemaphore, locks, ManualResetEvent } = boxoffice
const { Mutex, RecursiveMutex, RWLock, Semaphore } = boxoffice

const { inChild } = require('../helpers/children.js')
const { atTheEnd } = require('../helpers/stack_dive.js')
const { withoutTraces } = require('../helpers/stack_end.js')

const mayBlock = { allowBlockingMainThread: true }
const one = (lock, isLocked = () => lock.isLocked()) => ({ lock, isLocked })
const keyed = (map, isLocked = () => map.isLocked('a')) => one(map, isLocked)

const acquires = {
  'Mutex.acquire': [() => one(new Mutex()), (o) => (o.got = o.lock.acquire())],
  'Mutex.tryAcquire': [() => one(new Mutex()), (o) => o.lock.tryAcquire()],
  'Mutex.acquireSync': [() => one(new Mutex(mayBlock)), (o) => o.lock.acquireSync()],
  'Mutex.lock': [() => one(new Mutex()), (o) => (o.got = o.lock.lock())],
  'RWLock.acquireRead': [() => one(new RWLock()), (o) => (o.got = o.lock.acquireRead())],
  'RWLock.acquireWrite': [() => one(new RWLock()), (o) => (o.got = o.lock.acquireWrite())],
  'RWLock.tryAcquireRead': [() => one(new RWLock()), (o) => o.lock.tryAcquireRead()],
  'RWLock.tryAcquireWrite': [() => one(new RWLock()), (o) => o.lock.tryAcquireWrite()],
  'Semaphore.acquire': [() => one(new Semaphore(1)), (o) => (o.got = o.lock.acquire())],
  'Semaphore.tryAcquire': [() => one(new Semaphore(1)), (o) => o.lock.tryAcquire()],
  'KeyedMutex.acquire': [() => keyed(new KeyedMutex()), (o) => (o.got = o.lock.acquire('a'))],
  'KeyedMutex.tryAcquire of keys': [
    () => keyed(new KeyedMutex()),
    (o) => o.lock.tryAcquire(['a', 'b']),
  ],
  'KeyedRWLock.acquireRead': [
    () => {
      const map = new KeyedRWLock()
      return keyed(map, () => map.readers('a') > 0)
    },
    (o) => (o.got = o.lock.acquireRead('a')),
  ],
  'KeyedRWLock.acquireWrite': [
    () => keyed(new KeyedRWLock()),
    (o) => (o.got = o.lock.acquireWrite('a')),
  ],
  'KeyedSemaphore.acquire': [
    () => keyed(new KeyedSemaphore(1)),
    (o) => (o.got = o.lock.acquire('a')),
  ],
}

const runs = {
  'Mutex.runExclusiveSync': () => new Mutex(mayBlock),
  'RWLock.runExclusiveSync': () => new RWLock(mayBlock),
  'RWLock.runSharedSync': () => new RWLock(mayBlock),
  'RecursiveMutex.runExclusiveSync': () => new RecursiveMutex(mayBlock),
  'Semaphore.runExclusiveSync': () => new Semaphore(1, mayBlock),
}
const keyedRuns = {
  KeyedMutex: () => new KeyedMutex(mayBlock),
  KeyedRWLock: () => new KeyedRWLock(mayBlock),
  KeyedSemaphore: () => new KeyedSemaphore(1, mayBlock),
}
const nothing = () => {}

const releases = {
  'of a Mutex': () => {
    const lock = new Mutex()
    return { lock, release: lock.tryAcquire(), again: () => lock.tryAcquire() }
  },
  'of a reader': () => {
    const lock = new RWLock()
    return { lock, release: lock.tryAcquireRead(), again: () => lock.tryAcquireWrite() }
  },
  'of a writer': () => {
    const lock = new RWLock()
    return { lock, release: lock.tryAcquireWrite(), again: () => lock.tryAcquireWrite() }
  },
  'of a unit': () => {
    const lock = new Semaphore(1)
    return { lock, release: lock.tryAcquire().release, again: () => lock.tryAcquire() }
  },
  "of a key's unit": () => {
    const map = new KeyedSemaphore(1)
    const lock = { isLocked: () => map.getValue('a') === 0 }
    return { lock, release: map.tryAcquire('a').release, again: () => map.tryAcquire('a') }
  },
  'of a philosopher': () => {
    const table = new DiningPhilosophers(2)
    const again = () => table.tryBegin(0)
    const isLocked = () => {
      const release = again()
      release?.()
      return release === undefined
    }
    return { lock: { isLocked }, release: again(), again }
  },
}

// Calls that admit the `waiting` caller.
const admissions = {
  'the releaser of a unit': () => {
    const semaphore = new Semaphore(1)
    const { release } = semaphore.tryAcquire()
    return { waiting: semaphore.acquire(), admit: release }
  },
  'Semaphore.release': () => {
    const semaphore = new Semaphore(0)
    return { waiting: semaphore.acquire(), admit: () => semaphore.release() }
  },
  'Semaphore.setValue': () => {
    const semaphore = new Semaphore(0)
    return { waiting: semaphore.acquire(), admit: () => semaphore.setValue(1) }
  },
  'CountdownLatch.countDown': () => {
    const latch = new CountdownLatch(1)
    return { waiting: latch.wait(), admit: () => latch.countDown() }
  },
  'ManualResetEvent.set': () => {
    const event = new ManualResetEvent()
    return { waiting: event.wait(), admit: () => event.set() }
  },
  'AutoResetEvent.signal': () => {
    const event = new AutoResetEvent()
    return { waiting: event.wait(), admit: () => event.signal() }
  },
  'Barrier.wait': () => {
    const barrier = new Barrier(3)
    const { signal } = new AbortController()
    const waiting = Promise.all([barrier.wait({ signal }), barrier.wait()])
    return { waiting, admit: () => barrier.wait() }
  },
  'ConditionVariable.notifyOne': () => {
    const mutex = new Mutex()
    const condition = new ConditionVariable()
    mutex.tryLock()
    return { waiting: condition.wait(mutex), admit: () => condition.notifyOne() }
  },
}

describe('a call near the end of the stack', function () {
  this.timeout(60_000)
  withoutTraces()

  for (const [name, [make, act]] of Object.entries(acquires)) {
    it(`that throws has locked nothing: ${name}`, () => {
      for (const { isDone = false, isLocked } of atTheEnd(make, act)) {
        assert.equal(isLocked(), isDone)
      }
    })
  }

  for (const [name, make] of Object.entries(runs)) {
    const [, method] = name.split('.')
    it(`leaves nothing locked: ${name}`, () => {
      const act = (o) => o.lock[method](nothing)
      for (const { lock } of atTheEnd(() => one(make()), act)) assert.equal(lock.isLocked(), false)
    })
  }

  for (const [name, make] of Object.entries(keyedRuns)) {
    it(`leaves nothing locked: ${name}.runExclusiveSync`, () => {
      const act = (o) => o.lock.runExclusiveSync('a', nothing)
      for (const { isLocked } of atTheEnd(() => keyed(make()), act)) {
        assert.equal(isLocked(), false)
      }
    })
  }

  for (const [name, make] of Object.entries(releases)) {
    it(`can be repeated if it has not released: the releaser ${name}`, () => {
      for (const { lock, release, again } of atTheEnd(make, (o) => o.release())) {
        release()
        assert.equal(lock.isLocked(), false)
        const next = again()
        release()
        assert.equal(lock.isLocked(), true)
        assert.ok(next)
      }
    })
  }

  for (const [name, make] of Object.entries(admissions)) {
    it(`admits a waiter, or can be repeated: ${name}`, async () => {
      const all = atTheEnd(make, (o) => o.admit())
      for (const { admit, isDone = false } of all) if (!isDone) admit()
      await Promise.all(all.map(({ waiting }) => waiting))
    })
  }

  for (const [name, makeLock] of Object.entries({
    RWLock() {
      const lock = new RWLock()
      return [lock.tryAcquireWrite(), (priority) => lock.runShared(nothing, priority)]
    },
    Semaphore() {
      const lock = new Semaphore(1)
      return [lock.tryAcquire().release, (priority) => lock.runExclusive(nothing, 1, priority)]
    },
  })) {
    it(`admits waiters of several priorities, or can be repeated: ${name}`, async () => {
      // Those that no call was tried on wait, too.
      const made = []
      const make = () => {
        const [release, wait] = makeLock()
        made.push({ release, waiting: [0, 7, 5].map(wait) })
        return made.at(-1)
      }
      atTheEnd(make, (o) => o.release())
      for (const { release } of made) release()
      await Promise.all(made.flatMap(({ waiting }) => waiting))
    })
  }

  it('leaves no waiter of a condition variable when it throws', async () => {
    const make = () => {
      const mutex = new Mutex()
      const condition = new ConditionVariable()
      const release = mutex.tryAcquire()
      return { mutex, condition, release, next: mutex.acquire() }
    }
    const all = atTheEnd(make, (o) => (o.waiting = o.condition.wait(o.mutex)))
    for (const { mutex, condition, release, next, waiting } of all) {
      if (waiting === undefined) release()
      const giveBack = await next
      giveBack()
      condition.notifyAll()
      await waiting
      assert.equal(mutex.isLocked(), waiting !== undefined)
    }
  })

  const idles = {
    'of a Mutex': [() => new Mutex(), (lock) => lock.tryAcquire()],
    'of a writer': [() => new RWLock(), (lock) => lock.tryAcquireWrite()],
    'of a key': [() => new KeyedMutex(), (lock) => lock.tryAcquire('a')],
  }
  for (const [name, [construct, take]] of Object.entries(idles)) {
    it(`reports that the lock is idle, or can be repeated: the releaser ${name}`, async () => {
      const make = () => {
        const lock = construct()
        const release = take(lock)
        return { release, idle: lock.onIdle() }
      }
      const all = atTheEnd(make, (o) => o.release())
      for (const { release } of all) release()
      await Promise.all(all.map(({ idle }) => idle))
    })
  }

  it('leaves a reader as it was when it cannot upgrade', () => {
    const make = () => {
      const lock = new RWLock()
      return { lock, reader: lock.tryAcquireRead() }
    }
    for (const { lock, reader, writer } of atTheEnd(
      make,
      (o) => (o.writer = o.reader.tryUpgrade()),
    )) {
      assert.equal(lock.isWriteLocked(), writer !== undefined)
      ;(writer ?? reader)()
      assert.equal(lock.isLocked(), false)
    }
  })

  it('leaves a writer as it was when it cannot downgrade', () => {
    const make = () => {
      const lock = new RWLock()
      return { lock, writer: lock.tryAcquireWrite() }
    }
    for (const { lock, writer, reader } of atTheEnd(
      make,
      (o) => (o.reader = o.writer.downgrade()),
    )) {
      assert.equal(lock.isWriteLocked(), reader === undefined)
      ;(reader ?? writer)()
      assert.equal(lock.isLocked(), false)
    }
  })

  it('admits readers, or leaves a writer as it was when it cannot downgrade', async () => {
    const made = []
    const make = () => {
      const lock = new RWLock()
      const writer = lock.tryAcquireWrite()
      // The reader with a priority needs more of the stack than the one in front of it.
      const waiting = [0, -1].map((priority) => lock.runShared(nothing, priority))
      made.push({ lock, writer, waiting })
      return made.at(-1)
    }
    for (const { lock, reader } of atTheEnd(make, (o) => (o.reader = o.writer.downgrade()))) {
      assert.equal(lock.isWriteLocked(), reader === undefined)
      assert.equal(lock.snapshot().readers > 1, reader !== undefined)
    }
    for (const { writer, reader } of made) (reader ?? writer)()
    await Promise.all(made.flatMap(({ waiting }) => waiting))
    for (const { lock } of made) assert.equal(lock.snapshot().readers, 0)
  })

  it('leaves no waiter in the queue when it throws', async () => {
    const make = () => {
      const lock = new Mutex()
      return { lock, release: lock.tryAcquire() }
    }
    for (const { lock, release, waiting } of atTheEnd(
      make,
      (o) => (o.waiting = o.lock.acquire()),
    )) {
      assert.equal(lock.snapshot().waiting, waiting === undefined ? 0 : 1)
      release()
      ;(await waiting)?.()
      assert.equal(lock.isLocked(), false)
    }
  })

  const { signal } = new AbortController()
  const limited = {
    'Mutex.acquire with a timeout': [new Mutex(), (lock) => lock.acquire({ timeout: 60_000 })],
    'Mutex.acquire with a signal': [new Mutex(), (lock) => lock.acquire({ signal })],
    'RWLock.acquireWrite with a timeout': [
      new RWLock(),
      (lock) => lock.acquireWrite({ timeout: 60_000 }),
    ],
    'Mutex.acquire with diagnostics': [
      new Mutex({ diagnostics: 'counters' }),
      (lock) => lock.acquire(),
    ],
  }
  for (const [name, [lock, wait]] of Object.entries(limited)) {
    it(`leaves no waiter in the queue when it throws: ${name}`, async () => {
      const release = (lock.tryAcquireWrite ?? lock.tryAcquire).call(lock)
      const made = []
      const make = () => made[made.push({}) - 1]
      atTheEnd(make, (o) => (o.waiting = wait(lock)))
      const waits = made.filter(({ waiting }) => waiting !== undefined)
      release()
      for (const { waiting } of waits) (await waiting)()
      assert.equal(lock.isLocked(), false)
      assert.equal(lock.snapshot().waiting, 0)
    })
  }

  /** Starts `wait` with a timeout, and returns the callback of its timer, which a replaced clock calls. */
  const waitOf = (wait) => {
    const { setTimeout } = globalThis
    const one = { outcome: 'lost' }
    globalThis.setTimeout = (callback) => {
      one.expire = callback
    }
    try {
      wait({ timeout: 60_000 }).then(
        () => (one.outcome = 'admitted'),
        ({ code }) => (one.outcome = code),
      )
    } finally {
      globalThis.setTimeout = setTimeout
    }
    return one
  }
  /** A wait for a mutex that another caller holds. */
  const ofHeld = (wait) => () => {
    const mutex = new Mutex()
    const release = mutex.tryAcquire()
    const end = waitOf((limits) => wait(mutex, limits))
    return Object.assign(end, { release })
  }
  const expiries = {
    'of a Mutex': ofHeld((mutex, limits) => mutex.lock(limits)),
    'for a ConditionVariable': () => {
      const mutex = new Mutex()
      const condition = new ConditionVariable()
      mutex.tryLock()
      const end = waitOf((limits) => condition.wait(mutex, limits))
      mutex.tryLock()
      const release = () => {
        mutex.unlock()
        condition.notifyAll()
      }
      return Object.assign(end, { release })
    },
    'of waitForUnlock()': ofHeld((mutex, limits) => mutex.waitForUnlock(limits)),
  }
  for (const [name, make] of Object.entries(expiries)) {
    it(`ends a wait, or leaves it in its queue: the timeout ${name}`, async () => {
      const all = atTheEnd(make, (o) => o.expire())
      for (const { release } of all) release()
      await new Promise(setImmediate)
      for (const { isDone, outcome } of all) {
        assert.equal(outcome, isDone ? 'ERR_LOCK_TIMEOUT' : 'admitted')
      }
    })
  }

  const breaks = {
    'break()': (barrier) => ({ act: () => barrier.break() }),
    'an aborted party': (barrier) => ({
      act: () => barrier.wait({ signal: AbortSignal.abort() }).catch(nothing),
    }),
    'a timeout': (barrier) => {
      const party = waitOf((limits) => barrier.wait(limits))
      return { act: () => party.expire(), party }
    },
  }
  for (const [name, makeOne] of Object.entries(breaks)) {
    it(`breaks a barrier for all of its parties, or for none: ${name}`, async () => {
      const make = () => {
        const barrier = new Barrier(3)
        const other = barrier.wait().catch(({ code }) => code)
        return { barrier, other, ...makeOne(barrier) }
      }
      const all = atTheEnd(make, (o) => o.act())
      for (const { barrier, isDone = false } of all) {
        assert.equal(barrier.isBroken(), isDone)
        while (!isDone && barrier.waiting > 0) barrier.wait()
      }
      for (const { isDone, other, party } of all) {
        assert.equal(await other, isDone ? 'ERR_LOCK_BROKEN' : 2)
        if (party !== undefined)
          assert.equal(party.outcome, isDone ? 'ERR_LOCK_TIMEOUT' : 'admitted')
      }
    })
  }

  // In a process of its own: an unhandled rejection ends it, and Node.js writes about each rejection near the end.
  it('leaves no flight of a SingleFlight, and no unhandled rejection, when it rejects', async () => {
    const shown = await inChild(`
      const { SingleFlight } = require(entry)
      const { atEachDepth } = require(${JSON.stringify(require.resolve('../helpers/stack_end.js'))})
      Error.stackTraceLimit = 0
      const { signal } = new AbortController()
      for (const limits of [{ signal }, { timeout: 60_000 }]) {
        await atEachDepth(
          () => new SingleFlight(),
          (flight) => flight.do('a', () => 1, limits),
          async (flight, { error }) => {
            await turn()
            const left = flight.size
            const next = await flight.do('a', () => 2)
            if (left !== 0 || next !== 2) show({ left, next })
          },
        )
      }
      show('all')`)
    assert.deepEqual(shown, ['all'])
  })

  it('holds no lock of the lock manager when it throws', async () => {
    const made = []
    const make = () => {
      const one = { name: `end of the stack ${made.length}` }
      made.push(one)
      return one
    }
    const all = atTheEnd(make, (o) => (o.got = locks.acquire(o.name)))
    const held = new Set((await locks.query()).held.map(({ name }) => name))
    for (const { name, isDone = false } of all) assert.equal(held.has(name), isDone)
    for (const { got } of made) (await got)?.()
    assert.deepEqual(await locks.query(), { held: [], pending: [] })
  })
})
