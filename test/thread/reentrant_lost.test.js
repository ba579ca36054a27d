'use strict'
// A reentrant KeyedMutex whose hold release(key) has ended before its callback: calls that wait inside queue again.
// test/process/recursive_lost.test.js has the same for a RecursiveMutex.
const assert = require('node:assert/strict')
const { channel } = require('node:diagnostics_channel')
const { KeyedMutex } = require('../..')
const { gate } = require('../cluster/helpers/gate.js')
const { freshName } = require('../helpers/agents.js')
const { outcome, settled } = require('../helpers/keyed.js')
const { scopes } = require('../helpers/scopes.js')

for (const [scope, use] of Object.entries(scopes)) {
  describe(`a reentrant KeyedMutex that has lost its hold, in the scope ${scope}`, () => {
    const optionsOf = use()
    let locks
    beforeEach(async () => {
      locks = new KeyedMutex({ ...(await optionsOf()), reentrant: true })
    })
    afterEach(async () => {
      await locks.onIdle()
      assert.equal(locks.size, 0)
    })

    it('leaves no key behind when its grant ends before its callback begins', async () => {
      const run = locks.runExclusive('a', () => {})
      // Over an engine there is no grant yet.
      if (locks.isLocked('a')) locks.release('a')
      await run
    })

    it('excludes others by a call inside that is admitted as the hold ends, also where idle keys go', async () => {
      for (let i = 0; i < 255; i++) await locks.runExclusive(`idle ${i}`, () => {})
      const { open, opened } = gate()
      const { open: end, opened: ended } = gate()
      let inside = 0
      const enter = async () => {
        assert.equal(++inside, 1, 'oracle: two are inside')
        await ended
        inside--
      }
      let second
      const outer = locks.runExclusive('a', async () => {
        const first = locks.runExclusive('a', () => opened)
        second = locks.runExclusive('a', enter)
        await settled()
        opened.then(() => locks.release('a'))
        open()
        await first
      })
      for (let i = 0; i < 9; i++) await settled()
      const third = locks.runExclusive('a', enter)
      for (let i = 0; i < 9; i++) await settled()
      end()
      await Promise.all([outer, second, third])
    })

    /**
     * Starts a hold of "a" with a call inside that does not end, and one behind it with `limits`, and ends the hold. An
     * outsider that waits gets the key, and the call behind queues again.
     */
    async function requeue(limits) {
      const { open, opened } = gate()
      const { open: enter, opened: entered } = gate()
      let nested
      const outer = locks.runExclusive('a', async () => {
        const hung = locks.runExclusive('a', () => {
          enter()
          return opened
        })
        nested = outcome(locks.runExclusive('a', () => 'in', limits))
        await hung
      })
      await entered
      const outsider = new Promise((resolve) => {
        const end = gate()
        locks.runExclusive('a', () => {
          resolve(end.open)
          return end.opened
        })
      })
      await settled()
      locks.release('a')
      const end = () => {
        open()
        return outer
      }
      return { nested, outsider, end }
    }

    it('queues a caller again at once that waits inside of a hold that has ended', async () => {
      // It has found room in a queue, so the outsider in this one does not count.
      const { nested, outsider, end } = await requeue({ maxPending: 1 })
      const release = await outsider
      await settled()
      assert.equal(nested.state, 'pending')
      release()
      // Without a wait for the call that it was behind.
      await locks.onIdle()
      await settled()
      assert.equal(nested.value, 'in')
      await end()
    })

    it('has one deadline for a caller that queues again', async () => {
      const { setTimeout } = globalThis
      const delays = []
      globalThis.setTimeout = (act, delay, ...more) => {
        if (delay > 10_000) delays.push(delay)
        return setTimeout(act, delay, ...more)
      }
      try {
        const { outsider, end } = await requeue({ timeout: 60_000 })
        const release = await outsider
        await end()
        release()
        await locks.onIdle()
      } finally {
        globalThis.setTimeout = setTimeout
      }
      assert.deepEqual(delays, [60_000])
    })

    it('rejects a caller that queues again when its time is over, or by its signal', async () => {
      const late = await requeue({ timeout: 50 })
      const release = await late.outsider
      while (late.nested.state === 'pending') await settled()
      assert.equal(late.nested.reason.code, 'ERR_LOCK_TIMEOUT')
      assert.match(late.nested.reason.message, /within 50 ms/)
      release()
      await late.end()
      const controller = new AbortController()
      const aborted = await requeue({ signal: controller.signal, timeout: 60_000 })
      controller.abort('stopped')
      await settled()
      assert.equal(aborted.nested.reason, 'stopped')
      ;(await aborted.outsider)()
      await aborted.end()
    })

    it('rejects a caller that queues again by cancel() and cancelAll()', async () => {
      for (const cancel of [() => locks.cancel('a'), () => locks.cancelAll()]) {
        const { nested, outsider, end } = await requeue()
        const release = await outsider
        cancel()
        await settled()
        assert.equal(nested.reason?.code, 'ERR_LOCK_CANCELED')
        release()
        await end()
      }
    })
  })
}

describe('a reentrant KeyedMutex that has lost its hold', () => {
  it('cancels no caller of another map, whose lock this map reuses', async () => {
    const [one, other] = [1, 2].map(() => new KeyedMutex({ reentrant: true }))
    const { open, opened } = gate()
    let nested
    const outer = one.runExclusive('a', async () => {
      const hung = one.runExclusive('a', () => opened)
      nested = outcome(one.runExclusive('a', () => 'in'))
      await hung
    })
    await settled()
    one.release('a')
    // Idle locks leave their keys when there are many.
    for (let i = 0; i < 300; i++) one.tryAcquire(`key ${i}`)()
    await settled()
    for (let i = 0; i < 300; i++) other.tryLock(`key ${i}`)
    other.cancelAll()
    await settled()
    assert.equal(nested.value, 'in')
    open()
    await outer
  })

  for (const name of [undefined, freshName()]) {
    it(`ends its hold once when a subscriber ends it, too: ${name ? 'process' : 'thread'}`, async () => {
      const locks = new KeyedMutex({ name, reentrant: true, diagnostics: true })
      const { open, opened } = gate()
      const order = []
      let inside = 0
      const visit = (who) => async () => {
        assert.equal(++inside, 1, 'two are in')
        order.push(who)
        await settled()
        inside--
      }
      const all = []
      all.push(
        locks.runExclusive('a', async () => {
          all.push(locks.runExclusive('a', () => opened))
          await settled()
          all.push(locks.runExclusive('a', visit('nested')))
          await opened
        }),
      )
      await settled()
      await settled()
      all.push(locks.runExclusive('a', visit('first')), locks.runExclusive('a', visit('second')))
      const wait = channel('boxoffice:wait')
      const release = () => locks.release('a')
      wait.subscribe(release)
      locks.release('a')
      wait.unsubscribe(release)
      await locks.onIdle()
      open()
      await Promise.all(all)
      assert.deepEqual(order, ['first', 'second', 'nested'])
    })
  }
})
