'use strict'
// A wait for more units than a semaphore has, which ends only when its value is raised.
const assert = require('node:assert/strict')
const { E_CANCELED, Semaphore } = require('../..')
const { outcome } = require('../helpers/keyed.js')
const { scopes } = require('../helpers/scopes.js')
const { useWarnings, warningsOf } = require('../helpers/warnings.js')

const waits = {
  acquire: (semaphore, weight) => semaphore.acquire(weight),
  runExclusive: (semaphore, weight) => semaphore.runExclusive(assert.fail, { weight }),
  'map()': (semaphore, weight) => semaphore.map([1], assert.fail, { weight }),
  'limit()': (semaphore, weight) => semaphore.limit(assert.fail, { weight })(),
}
/** No test of another file in this process has such a semaphore: its warnings may come up to a second later. */
const value = 500
/** Another one in each test: equal warnings within a second are counted, not emitted. */
let weight = 1000

const tooMany = 'BOXOFFICE_TOO_MANY_UNITS'
const oursOf = async (action, whole = value) =>
  (await warningsOf(tooMany, action)).filter(({ message }) =>
    message.includes(`, which has ${whole}: `),
  )

// Over an engine, where the value is fixed, such a wait is refused.
for (const scope of ['thread', 'process', 'host']) {
  describe(`a wait for more units than the semaphore has, in the scope ${scope}`, () => {
    useWarnings(tooMany)

    const optionsOf = scopes[scope]()
    let semaphore
    beforeEach(async () => {
      weight++
      semaphore = new Semaphore(value, await optionsOf())
    })

    for (const [title, wait] of Object.entries(waits)) {
      it(`of ${title} warns once, with its site`, async () => {
        const ends = []
        const warnings = await oursOf(() => {
          // Another weight makes another message, which the limiter of warnings would let pass.
          for (const more of [0, 1]) {
            ends.push(assert.rejects(wait(semaphore, weight + more), E_CANCELED))
          }
          ends.push(outcome(semaphore.waitForUnlock(weight)))
        })
        const [{ name, code, message, detail }, ...others] = warnings
        assert.deepEqual(others, [])
        assert.deepEqual([name, code], ['BoxofficeWarning', 'BOXOFFICE_TOO_MANY_UNITS'])
        const start = `a caller waits for ${weight} units of the semaphore`
        assert.ok(message.startsWith(start), message)
        assert.match(message.slice(start.length), /^( ".*")?, which has 500: /)
        assert.ok(message.endsWith(`; for a priority: { priority: ${weight} }`), message)
        const [heading, ...frames] = detail.split('\n')
        assert.equal(heading, 'It began to wait here:')
        assert.match(frames[0], /too_many_units\.test\.js/)
        semaphore.cancel()
        semaphore.setValue(weight)
        await Promise.all(ends)
      })
    }

    it('of waitForUnlock() warns, too', async () => {
      const wait = () => void outcome(semaphore.waitForUnlock(weight))
      assert.equal((await oursOf(wait)).length, 1)
      semaphore.setValue(weight)
    })

    it('does not warn where the caller does not wait', async () => {
      const now = [
        () =>
          assert.rejects(semaphore.acquire(weight, { timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' }),
        async () => assert.equal(await semaphore.acquire(weight, { ifAvailable: true }), undefined),
        () => assert.equal(semaphore.tryAcquire(weight), undefined),
        () =>
          assert.rejects(semaphore.acquire(weight, { maxPending: 0 }), {
            code: 'ERR_LOCK_QUEUE_FULL',
          }),
      ]
      for (const call of now) assert.deepEqual(await oursOf(call), [])
    })

    it('does not warn of a weight that fits, nor of a value that has been raised', async () => {
      const warnings = await oursOf(async () => {
        const [, release] = await semaphore.acquire(value)
        const second = semaphore.acquire(value)
        release()
        const [, releaseSecond] = await second
        releaseSecond()
        semaphore.setValue(weight)
        const [, releaseAll] = await semaphore.acquire(weight)
        releaseAll()
      })
      assert.deepEqual(warnings, [])
    })

    const raises = {
      'setValue()': () => semaphore.setValue(weight),
      'release()': () => semaphore.release(weight - value),
    }
    for (const [title, raise] of Object.entries(raises)) {
      it(`does not warn of a value that ${title} has raised, while its units are taken`, async () => {
        const warnings = await oursOf(async () => {
          raise()
          const [, releaseAll] = await semaphore.acquire(weight)
          const next = semaphore.acquire(weight)
          releaseAll()
          const [, release] = await next
          release()
        })
        assert.deepEqual(warnings, [])
        const more = () => void outcome(semaphore.acquire({ weight: weight + 1, timeout: 1 }))
        assert.equal((await oursOf(more, weight)).length, 1)
      })
    }

    it('warns of a semaphore that begins with one unit', async () => {
      const one = new Semaphore(1, await optionsOf())
      const wait = () => void outcome(one.acquire({ weight, timeout: 1 }))
      const warnings = await oursOf(wait, 1)
      assert.ok(warnings.some(({ message }) => message.includes(` ${weight} units `)))
    })

    it('does not warn of a semaphore that begins without a unit, and is meant to be raised', async () => {
      const signal = new Semaphore(0, await optionsOf())
      const warnings = await oursOf(async () => {
        const wait = signal.acquire()
        signal.release()
        const [, release] = await wait
        release()
      }, 0)
      assert.deepEqual(warnings, [])
    })
  })
}
