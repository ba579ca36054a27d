'use strict'
// A RecursiveMutex whose hold has ended before its callback. test/thread/reentrant_lost.test.js has the same for keys.
const assert = require('node:assert/strict')
const { E_CANCELED, KeyedMutex, Mutex, RecursiveMutex } = require('../..')
const { freshName } = require('../helpers/agents.js')
const { useHosts } = require('../helpers/hosts.js')
const { gate } = require('../cluster/helpers/gate.js')
const { outcome, settled } = require('../helpers/keyed.js')
const { fakeWorld } = require('../cluster/helpers/fake_world.js')

const aborted = ({ signal }) =>
  new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))

/** Each, for describe(), returns a function that makes { mutex, lose, until }: `lose(grant)` resolves when
 * `mutex` is free, and `until(promise)` lets time pass for it. */
const ways = {
  'to a Mutex in its memory': () => () => {
    const mutex = new RecursiveMutex({ shared: true })
    const plain = new Mutex({ buffer: mutex.buffer })
    return { mutex, lose: async () => plain.unlock() }
  },
  'by maxHold at scope host'() {
    const hosts = useHosts()
    return () => {
      const { directory } = hosts
      const mutex = new RecursiveMutex({
        scope: 'host',
        name: freshName(),
        directory,
        maxHold: 100,
      })
      return { mutex, lose: aborted }
    }
  },
  'by maxHold over an engine'() {
    const world = fakeWorld()
    return async () => {
      const mutex = new RecursiveMutex({
        engine: await world.newEngine(),
        name: 'a',
        maxHold: 1000,
      })
      return { mutex, lose: aborted, until: (promise) => world.clock.until(promise) }
    }
  },
}

for (const [way, use] of Object.entries(ways)) {
  describe(`A RecursiveMutex that has lost its hold ${way}`, () => {
    const make = use()
    let mutex
    let lose
    let until
    beforeEach(async () => {
      ;({ mutex, lose, until = Promise.resolve.bind(Promise) } = await make())
    })

    it('does not count as held, and lets a nested call in by a hold of its own', async () => {
      const isHeld = []
      await until(
        mutex.runExclusive(async (grant) => {
          isHeld.push(mutex.isHeld())
          await lose(grant)
          isHeld.push(mutex.isHeld(), mutex.isLocked())
          await mutex.runExclusive((nested) => {
            isHeld.push(mutex.isHeld(), nested.signal?.aborted ?? false)
          })
          isHeld.push(mutex.isHeld(), mutex.isLocked())
        }),
      )
      assert.deepEqual(isHeld, [true, false, false, true, false, false, false])
    })

    it('queues a nested call again that waited inside of it', async () => {
      let nested
      await until(
        mutex.runExclusive(async (grant) => {
          const first = mutex.runExclusive(() => lose(grant))
          nested = mutex.runExclusive(({ signal }) => [mutex.isLocked(), signal?.aborted ?? false])
          await first
        }),
      )
      assert.deepEqual(await until(nested), [true, false])
    })

    it('does not keep nested calls that wait until their sibling ends', async () => {
      const { open, opened } = gate()
      let beside
      const inside = gate()
      const outer = mutex.runExclusive(async (grant) => {
        const hung = mutex.runExclusive(async () => {
          const deeper = mutex.runExclusive(() => lose(grant).then(() => opened))
          mutex.runExclusive(inside.open)
          await deeper
        })
        beside = outcome(mutex.runExclusive(() => 'in'))
        await hung
      })
      await until(inside.opened)
      await settled()
      assert.equal(beside.value, 'in')
      open()
      await until(outer)
    })

    it('cancels its nested calls that wait, while another caller holds it', async () => {
      const { open, opened } = gate()
      let nested
      const outer = mutex.runExclusive(async (grant) => {
        const hung = mutex.runExclusive(() => lose(grant).then(() => opened))
        nested = outcome(mutex.runExclusive(assert.fail))
        await hung
      })
      const outsider = mutex.runExclusive(async () => {
        mutex.cancel()
        await settled()
        return nested.reason
      })
      assert.equal(await until(outsider), E_CANCELED)
      open()
      await until(outer)
    })
  })
}

describe('A lock over an engine that has lost its lease', () => {
  const world = fakeWorld()
  const locks = {
    RecursiveMutex: (engine) => new RecursiveMutex({ engine, name: 'a' }),
    'reentrant KeyedMutex'(engine) {
      const keys = new KeyedMutex({ engine, reentrant: true })
      return { runExclusive: (...all) => keys.runExclusive('a', ...all) }
    },
  }

  for (const [name, make] of Object.entries(locks)) {
    it(`rejects what its callback nests: ${name}`, async () => {
      const lock = make(await world.newEngine({ ttl: 1000, maxHold: 5000 }))
      const codes = []
      const outer = lock.runExclusive(async (grant) => {
        const first = lock.runExclusive(() => aborted(grant))
        const queued = lock.runExclusive(assert.fail).catch(({ code }) => codes.push(code))
        await first
        await queued
        await lock.runExclusive(assert.fail).catch(({ code }) => codes.push(code))
      })
      await world.clock.until(outer)
      assert.deepEqual(codes, ['ERR_LOCK_LOST', 'ERR_LOCK_LOST'])
      assert.equal(await world.clock.until(lock.runExclusive(() => 'in')), 'in')
    })
  }
})

describe('A RecursiveMutex that has lost its hold in a blocking call', () => {
  it('is entered anew by a nested one', () => {
    const mutex = new RecursiveMutex({ shared: true, allowBlockingMainThread: true })
    const plain = new Mutex({ buffer: mutex.buffer })
    const seen = mutex.runExclusiveSync(() => {
      plain.unlock()
      const isHeld = mutex.isHeld()
      return [isHeld, mutex.runExclusiveSync(() => mutex.isLocked()), mutex.isLocked()]
    })
    assert.deepEqual(seen, [false, true, false])
    assert.equal(mutex.isLocked(), false)
  })
})
