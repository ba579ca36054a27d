'use strict'
// Thenables, and promises of subclasses, may be settled by code outside of each chain.
const assert = require('node:assert/strict')
const { EventEmitter } = require('node:events')
const { Mutex } = require('../..')
const { within } = require('../helpers/agents.js')

const diagnostics = true
/** The timer of within() must not be in the chain: `caller` makes all promises that it awaits. */
const ended = (caller) => within(5000, caller())
const turn = () => new Promise(setImmediate)
const codeOf = (promise) =>
  promise.then(
    () => 'fine',
    ({ code }) => code,
  )

/** Emits 'row' outside of each chain. */
const connection = new EventEmitter()
/** A query of a library: its answer comes through a connection that is open already. */
const query = () => ({
  // biome-ignore lint/suspicious/noThenProperty: this is a thenable
  then: (resolve) => void connection.once('row', resolve),
})
class Derived extends Promise {}
class Own extends Promise {
  // biome-ignore lint/complexity/noUselessConstructor: its frame is on the stack
  constructor(executor) {
    super(executor)
  }
}

// Each returns a promise that only the connection settles.
const pending = {
  'Promise.resolve() of a thenable': () => Promise.resolve(query()),
  'an async function that returns a thenable': async () => query(),
  'an async function that awaits a thenable': async () => void (await query()),
  'an async function that returns a thenable later': async () => {
    await null
    return query()
  },
  'a callback that returns a thenable': () => Promise.resolve().then(query),
  'finally() with a thenable': () => Promise.resolve().finally(query),
  'Promise.all() of a thenable': () => Promise.all([query()]),
  'Promise.race() of a thenable': () => Promise.race([query()]),
  'a subclass of Promise': () => new Derived((resolve) => connection.once('row', resolve)),
  'a subclass with a constructor': () => new Own((resolve) => connection.once('row', resolve)),
  'an async function that returns a promise of a subclass': async () =>
    new Derived((resolve) => connection.once('row', resolve)),
  'an async function that awaits a promise of a subclass': async () =>
    void (await new Own((resolve) => connection.once('row', resolve))),
  'resolve() of a subclass': () => Derived.resolve(query()),
  'an async function that returns such a promise': async () => Promise.resolve(query()),
}
if (Array.fromAsync !== undefined) {
  pending['Array.fromAsync() of a thenable'] = () => Array.fromAsync([query()])
}

describe('No deadlock is reported while a thenable may release the hold', () => {
  let timer
  before(() => {
    connection.setMaxListeners(0)
    timer = setInterval(() => connection.emit('row'), 20)
  })
  after(() => clearInterval(timer))

  for (const [what, make] of Object.entries(pending)) {
    it(`by ${what}`, async () => {
      const mutex = new Mutex({ diagnostics })
      // The next caller waits after the answer is awaited, and before that.
      for (const isFirst of [true, false]) {
        const caller = async () => {
          const release = await mutex.acquire()
          const answer = make()
          if (isFirst) answer.then(release)
          const next = mutex.runExclusive(() => 'next')
          if (!isFirst) answer.then(release)
          return await next
        }
        assert.equal(await ended(caller), 'next')
      }
    })

    it(`by ${what}, which a function awaits`, async () => {
      const mutex = new Mutex({ diagnostics })
      const caller = async () => {
        const release = await mutex.acquire()
        const job = async () => {
          await make()
          release()
        }
        const [next] = await Promise.all([mutex.runExclusive(() => 'next'), job()])
        return next
      }
      assert.equal(await ended(caller), 'next')
    })
  }

  it('by a thenable whose then() waits for a lock besides', async () => {
    const [mutex, log] = [new Mutex({ diagnostics }), new Mutex({ diagnostics })]
    const caller = async () => {
      const end = await log.acquire()
      const release = await mutex.acquire()
      const work = async () => ({
        // biome-ignore lint/suspicious/noThenProperty: this is a thenable
        then(resolve) {
          log.runExclusive(() => {})
          connection.once('row', resolve)
        },
      })
      work().then(() => {
        release()
        end()
      })
      return await mutex.runExclusive(() => 'next')
    }
    assert.equal(await ended(caller), 'next')
  })

  it('by a thenable that an async function returns with a hold', async () => {
    const mutex = new Mutex({ diagnostics })
    let release
    const take = async () => {
      release = await mutex.acquire()
      return query()
    }
    const caller = async () => {
      take().then(() => release())
      await turn()
      return await mutex.runExclusive(() => 'next')
    }
    assert.equal(await ended(caller), 'next')
  })
})

describe('A deadlock is found through promises', () => {
  for (const [how, wait] of Object.entries({
    'that async functions return': async (inner) => inner(),
    'that async functions return later': async (inner) => {
      await turn()
      return inner()
    },
    'that callbacks of then() return': (inner) => turn().then(inner),
    'that callbacks of a timer return': (inner) =>
      new Promise((resolve) => {
        setTimeout(resolve, 1)
      }).then(async () => inner()),
  })) {
    it(how, async () => {
      const mutex = new Mutex({ diagnostics })
      const again = async () => mutex.runExclusive(() => {})
      const caller = () => codeOf(mutex.runExclusive(() => wait(again)))
      assert.equal(await ended(caller), 'ERR_LOCK_DEADLOCK')
    })
  }
})
