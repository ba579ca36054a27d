'use strict'
// The operations of steps.test.js, and their steps: a process of its own, because only code that is loaded later is
// counted. Shows { name: [steps beside few, steps beside many] }.
const { stepsOf } = require('./steps.js')
const {
  ConditionVariable,
  KeyedMutex,
  KeyedRWLock,
  KeyedSemaphore,
  Mutex,
  RWLock,
  Semaphore,
} = require('../..')

const few = 50
const many = 1600

/**
 * By the name of an operation: `prepare(n)` makes n others, and returns the operation, which is repeated, and a function
 * that ends the others.
 */
const operations = {
  async 'notifyOne() beside waiters'(n) {
    const mutex = new Mutex()
    const condition = new ConditionVariable()
    for (let i = 0; i < n; i++) {
      mutex.lock()
      condition.wait(mutex).then(() => mutex.unlock())
    }
    return { act: () => condition.notifyOne(), end: () => condition.notifyAll() }
  },
  async 'the release of a key after onIdle(), beside held keys'(n) {
    const locks = new KeyedMutex()
    const releases = Array.from({ length: n }, (_, i) => locks.tryAcquire(i))
    const idle = locks.onIdle()
    // Locks that have become idle stay with their keys for a while.
    let i = 0
    while (i < n / 8) releases[i++]()
    return {
      act: () => releases[i++](),
      async end() {
        for (const release of releases) release()
        await idle
      },
    }
  },
  async 'the release of a key after close(), beside held keys'(n) {
    const locks = new KeyedSemaphore(1)
    const releases = Array.from({ length: n }, (_, i) => locks.tryAcquire(i)[1])
    const closed = locks.close()
    let i = n
    while (i > (7 * n) / 8) releases[--i]()
    return {
      act: () => releases[--i](),
      async end() {
        for (const release of releases) release()
        await closed
      },
    }
  },
  async 'a key that comes and goes after onIdle(), beside held keys'(n) {
    const locks = new KeyedRWLock()
    const releases = Array.from({ length: n }, (_, i) => locks.tryAcquireWrite(i))
    const idle = locks.onIdle()
    return {
      act: () => locks.tryAcquireRead('a')(),
      async end() {
        for (const release of releases) release()
        await idle
      },
    }
  },
  async 'the release of a semaphore beside heavier callers of waitForUnlock()'(n) {
    const semaphore = new Semaphore(1)
    semaphore.tryAcquire()
    const watching = Array.from({ length: n }, (_, i) => semaphore.waitForUnlock(2 + i))
    return {
      act() {
        semaphore.release()
        semaphore.tryAcquire()
      },
      async end() {
        semaphore.release(n + 5)
        await Promise.all(watching)
      },
    }
  },
  async 'a hand-off of a semaphore beside callers of waitForUnlock() without a priority'(n) {
    const semaphore = new Semaphore(1)
    semaphore.tryAcquire()
    semaphore.waitForUnlock(3, 5)
    const watching = Array.from({ length: n }, () => semaphore.waitForUnlock())
    const waiting = Array.from({ length: few }, () => semaphore.acquire())
    return {
      act: () => semaphore.release(),
      async end() {
        semaphore.release(3 * few)
        await Promise.all([...watching, ...waiting])
      },
    }
  },
  async 'units that come back without a Releaser, beside holders'(n) {
    const semaphore = new Semaphore(n, { diagnostics: true })
    const tickets = Array.from({ length: n }, () => semaphore.tryAcquire())
    return {
      act: () => semaphore.release(),
      end() {
        for (const [, release] of tickets) release()
      },
    }
  },
  async "a hand-off of a mutex with fairness: 'fifo', beside waiters"(n) {
    const mutex = new Mutex({ name: `steps ${n} ${process.hrtime.bigint()}`, fairness: 'fifo' })
    mutex.tryLock()
    const waiting = Array.from({ length: n }, () => mutex.lock())
    return {
      act: () => mutex.unlock(),
      async end() {
        for (const one of waiting) {
          await one
          if (mutex.isLocked()) mutex.unlock()
        }
      },
    }
  },
  async 'a read-write lock that is tried beside waiters'(n) {
    const lock = new RWLock({ name: `steps ${n} ${process.hrtime.bigint()}` })
    const release = lock.tryAcquireWrite()
    const waiting = Array.from({ length: n }, () => lock.acquireRead())
    return {
      act() {
        lock.tryAcquireRead()
        lock.tryAcquireWrite()
      },
      async end() {
        release()
        for (const one of waiting) (await one)()
      },
    }
  },
}

async function main() {
  const all = {}
  for (const [name, prepare] of Object.entries(operations)) {
    all[name] = []
    for (const n of [few, few, many]) {
      const { act, end } = await prepare(n)
      act() // which may have more to do than later ones
      all[name].push(stepsOf(act))
      await end()
    }
    all[name].shift()
  }
  console.log(JSON.stringify(all))
}

main()
