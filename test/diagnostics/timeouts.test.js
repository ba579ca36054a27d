'use strict'
// What the error of a timeout says of the holder.
const assert = require('node:assert/strict')
const boxoffice = require('../..')
const { freshName, useAgents } = require('../helpers/agents.js')
const { useHosts } = require('../helpers/hosts.js')

const { AutoResetEvent, KeyedMutex, KeyedRWLock, KeyedSemaphore } = boxoffice
const { LockManager, Mutex, RecursiveMutex, RWLock, Semaphore } = boxoffice

const soon = { timeout: 5 }
const advice = /within 5 ms; set BOXOFFICE_DIAGNOSTICS=1 to see who holds it$/

/** The message of the timeout that `promise` rejects with. */
async function messageOf(promise) {
  const error = await promise.then(assert.fail, (reason) => reason)
  assert.equal(error.code, 'ERR_LOCK_TIMEOUT')
  return error.message
}

/** Each is { hold, wait }. */
const kinds = {
  Mutex(options) {
    const mutex = new Mutex(options)
    return { hold: () => mutex.acquire(), wait: (limits) => mutex.acquire(limits) }
  },
  Semaphore(options) {
    const semaphore = new Semaphore(1, options)
    return { hold: () => semaphore.acquire(), wait: (limits) => semaphore.acquire(limits) }
  },
  RWLock(options) {
    const lock = new RWLock(options)
    return { hold: () => lock.acquireRead(), wait: (limits) => lock.acquireWrite(limits) }
  },
  KeyedMutex(options) {
    const locks = new KeyedMutex(options)
    return { hold: () => locks.acquire('a'), wait: (limits) => locks.acquire('a', limits) }
  },
  KeyedSemaphore(options) {
    const locks = new KeyedSemaphore(1, options)
    return { hold: () => locks.acquire('a'), wait: (limits) => locks.acquire('a', limits) }
  },
  KeyedRWLock(options) {
    const locks = new KeyedRWLock(options)
    return { hold: () => locks.acquireWrite('a'), wait: (limits) => locks.acquireRead('a', limits) }
  },
}

describe('the error of a timeout', () => {
  const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z \(\d+ ms\)`
  const held = new RegExp(`within 5 ms; it is held by the main thread since ${time}`)

  for (const [kind, make] of Object.entries(kinds)) {
    for (const [scope, sharing] of Object.entries({
      thread: () => ({}),
      process: () => ({ name: freshName() }),
    })) {
      it(`of a ${kind} in the scope ${scope} without diagnostics says how to get the holder`, async () => {
        const { hold, wait } = make({ ...sharing(), diagnostics: false })
        await hold()
        assert.match(await messageOf(wait(soon)), advice)
        assert.match(await messageOf(wait({ timeout: 0 })), /within 0 ms$/)
      })

      it(`of a ${kind} in the scope ${scope} with counters names the holder and the time`, async () => {
        const { hold, wait } = make({ ...sharing(), diagnostics: 'counters' })
        await hold()
        assert.match(await messageOf(wait(soon)), new RegExp(`${held.source}$`))
      })

      it(`of a ${kind} in the scope ${scope} with diagnostics names the place, too`, async () => {
        const { hold, wait } = make({ ...sharing(), diagnostics: true })
        await hold()
        // It might release the lock: without it the wait would be refused as a deadlock.
        const timer = setTimeout(() => {}, 1e6)
        const message = await messageOf(wait(soon))
        clearTimeout(timer)
        assert.match(message, new RegExp(`${held.source} acquired at .*timeouts\\.test\\.js`))
      })
    }
  }

  it('of several keys names the one that the caller waited for', async () => {
    const plain = new KeyedMutex({ diagnostics: false })
    await plain.acquire('b')
    assert.match(await messageOf(plain.acquire(['a', 'b'], soon)), advice)
    const watched = new KeyedMutex({ diagnostics: 'counters' })
    await watched.acquire('b')
    assert.match(
      await messageOf(watched.acquire(['a', 'b'], soon)),
      /keys "a", "b" were not available within 5 ms; key "b" is held by the main thread since /,
    )
  })

  it('of a nested call names the holder of the outermost hold', async () => {
    for (const [diagnostics, expected] of [
      [undefined, advice],
      ['counters', /within 5 ms; it is held by the main thread since /],
    ]) {
      const mutex = new RecursiveMutex({ diagnostics })
      const message = await mutex.runExclusive(async () => {
        let end
        const first = mutex.runExclusive(() => new Promise((resolve) => (end = resolve)))
        const text = await messageOf(mutex.runExclusive(assert.fail, soon))
        end()
        await first
        return text
      })
      assert.match(message, expected)
    }
  })

  it('names three holders of many', async () => {
    const semaphore = new Semaphore(5, { diagnostics: true })
    for (let i = 0; i < 5; i++) await semaphore.acquire()
    const timer = setTimeout(() => {}, 1e6)
    const message = await messageOf(semaphore.acquire(soon))
    clearTimeout(timer)
    assert.equal(message.match(/by the main thread since/g).length, 3)
    assert.match(message, /, by 2 more$/)
  })

  it('of an event and of a lock manager has no holder', async () => {
    assert.match(await messageOf(new AutoResetEvent().wait(soon)), /within 5 ms$/)
    const locks = new LockManager()
    const release = await locks.acquire('a')
    assert.match(await messageOf(locks.acquire('a', soon)), /within 5 ms$/)
    release()
  })

  describe('of a lock that another thread or process holds', () => {
    const agents = useAgents()
    const hosts = useHosts()

    it('names the thread', async () => {
      const name = freshName()
      const mutex = new Mutex({ name, diagnostics: 'counters' })
      const agent = agents()
      await agent.does(
        `my.mutex = new boxoffice.Mutex({ name: '${name}', diagnostics: 'counters' }); await my.mutex.acquire()`,
      )
      assert.match(await messageOf(mutex.acquire(soon)), /; it is held by thread \d+$/)
    })

    it('names the process', async () => {
      const options = { scope: 'host', name: freshName(), directory: hosts.directory }
      const mutex = new Mutex({ ...options, diagnostics: 'counters' })
      const host = hosts.start()
      await host.does(
        `my.mutex = new boxoffice.Mutex(${JSON.stringify(options)}); await my.mutex.acquire()`,
      )
      assert.match(await messageOf(mutex.acquire(soon)), /; it is held by process \d+$/)
      await host.does('my.mutex.release()')
    })

    it('of a lock manager of scope host has no advice', async () => {
      const locks = new LockManager({
        scope: 'host',
        name: freshName(),
        directory: hosts.directory,
      })
      const release = await locks.acquire('a')
      assert.match(await messageOf(locks.acquire('a', soon)), /within 5 ms$/)
      release()
    })
  })
})
