'use strict'
// KeyedMutex with { reentrant: true }: the chain of calls that holds a key enters it again.
const assert = require('node:assert/strict')
const { KeyedMutex, KeyedRWLock } = require('../..')
const { outcome, settled } = require('../helpers/keyed.js')
const { scaled } = require('../helpers/scale.js')
const { scopes } = require('../helpers/scopes.js')

const deadlock = {
  code: 'ERR_LOCK_DEADLOCK',
  message: /held by this chain of calls.*runExclusive\(\)$/,
}

/** A promise, and the function that resolves it. */
function gate() {
  let open
  const opened = new Promise((resolve) => {
    open = resolve
  })
  return { open, opened }
}

for (const [scope, use] of Object.entries(scopes)) {
  describe(`a reentrant KeyedMutex in the scope ${scope}`, () => {
    const optionsOf = use()
    let options
    let locks
    beforeEach(async () => {
      options = await optionsOf()
      locks = new KeyedMutex({ ...options, reentrant: true })
    })
    afterEach(async () => {
      await locks.onIdle()
      assert.equal(locks.size, 0)
    })

    it('lets the chain that holds a key in again, at any depth, and then the next one', async () => {
      const order = []
      const addItem = (user, item) => locks.runExclusive(user, async () => order.push(item))
      const checkout = (user) =>
        locks.runExclusive(user, async () => {
          await settled()
          await addItem(user, 'nested')
          await locks.executeLocked(user, () => addItem(user, 'deeper'))
          order.push('outer')
          return 'done'
        })
      const first = checkout('ada')
      const second = locks.runExclusive('ada', () => order.push('other chain'))
      assert.equal(await first, 'done')
      await second
      assert.deepEqual(order, ['nested', 'deeper', 'outer', 'other chain'])
    })

    it('lets siblings in a hold take turns', async () => {
      let inside = 0
      const visit = () =>
        locks.runExclusive('ada', async () => {
          assert.equal(++inside, 1)
          await settled()
          inside--
        })
      await locks.runExclusive('ada', () => Promise.all([visit(), visit(), visit()]))
    })

    it('takes several keys, of which the chain holds some', async () => {
      const grant = await locks.runExclusive('b', () =>
        locks.runExclusive(['c', 'b', 'a', 'b'], (both) =>
          locks.runExclusive(['a', 'c'], () => both),
        ),
      )
      assert.equal(grant.abandoned, false)
      assert.equal(await locks.runExclusive([], () => 'none'), 'none')
    })

    it('keeps other chains out of all keys of a hold', async () => {
      const { open, opened } = gate()
      const held = locks.runExclusive('a', () => locks.runExclusive(['a', 'b'], () => opened))
      await settled()
      const others = ['a', 'b'].map((key) => outcome(locks.runExclusive(key, () => key)))
      const now = await Promise.all(
        ['a', 'b'].map((key) => locks.tryRunExclusive(key, assert.fail)),
      )
      assert.deepEqual(
        now.map(({ ran }) => ran),
        [false, false],
      )
      await settled()
      assert.deepEqual(
        others.map(({ state }) => state),
        ['pending', 'pending'],
      )
      open()
      await held
    })

    it('holds none of several keys when one of them is not available', async () => {
      const { open, opened } = gate()
      const held = locks.runExclusive('b', () => opened)
      await settled()
      const late = { code: 'ERR_LOCK_TIMEOUT', message: /keys "a", "b"/ }
      await assert.rejects(locks.runExclusive(['a', 'b'], assert.fail, { timeout: 200 }), late)
      const now = { ifAvailable: true }
      assert.equal(await locks.runExclusive(['a', 'b'], assert.fail, now), undefined)
      assert.equal(await locks.runExclusive('a', () => 'free', now), 'free')
      open()
      await held
    })

    it('tells a nested caller that it waits for its siblings too long', async () => {
      await locks.runExclusive('a', async () => {
        const { open, opened } = gate()
        const sibling = locks.runExclusive('a', () => opened)
        const late = { code: 'ERR_LOCK_TIMEOUT', message: /key "a"/ }
        await assert.rejects(locks.runExclusive('a', assert.fail, { timeout: 1 }), late)
        open()
        await sibling
      })
    })

    it('refuses the other forms to the chain that holds the key, and serves other chains', async () => {
      await locks.runExclusive('a', async () => {
        await assert.rejects(locks.acquire('a'), deadlock)
        await assert.rejects(locks.acquire(['0', 'a']), deadlock)
        await assert.rejects(locks.lock('a'), deadlock)
        await assert.rejects(locks.waitForUnlock('a'), deadlock)
        const release = await locks.acquire('b')
        release()
      })
      const release = await locks.acquire(['a', 'b'])
      release()
      await locks.lock('a')
      locks.unlock('a')
      await locks.waitForUnlock('a')
    })

    it('names the map when acquire() of several keys times out', async () => {
      const release = await locks.acquire('a')
      const { name } = options
      const place = name === undefined ? '' : ` in ${JSON.stringify(name)}`
      await assert.rejects(locks.acquire(['a', 'b'], { timeout: 1 }), ({ message }) =>
        message.startsWith(`the locks of keys "a", "b"${place} were not available within 1 ms`),
      )
      release()
    })

    it('excludes an object without the option, whose nested call waits', async () => {
      const plain = new KeyedMutex(options)
      if (scope === 'thread') return
      await locks.runExclusive('a', async () => {
        assert.deepEqual((await plain.tryRunExclusive('a', assert.fail)).ran, false)
      })
      await plain.runExclusive('a', async () => {
        const nested = locks.runExclusive('a', assert.fail, { timeout: 1 })
        await assert.rejects(nested, { code: 'ERR_LOCK_TIMEOUT' })
      })
    })

    it('rejects the callers inside a hold by cancel() and cancelAll()', async () => {
      for (const cancel of [() => locks.cancel('a'), () => locks.cancelAll()]) {
        await locks.runExclusive('a', async () => {
          const { open, opened } = gate()
          const sibling = locks.runExclusive('a', () => opened)
          const next = locks.runExclusive('a', assert.fail)
          const outer = locks.runExclusive('a', assert.fail)
          cancel()
          await assert.rejects(next, { code: 'ERR_LOCK_CANCELED' })
          await assert.rejects(outer, { code: 'ERR_LOCK_CANCELED' })
          open()
          await sibling
        })
      }
    })

    it('lets a chain in again after close(), and no other', async () => {
      const closed = { code: 'ERR_LOCK_CLOSED' }
      let closing
      await locks.runExclusive('a', async () => {
        closing = locks.close()
        assert.equal(await locks.runExclusive('a', () => 'in'), 'in')
        assert.equal(await locks.runExclusive(['a'], () => 'in'), 'in')
        await assert.rejects(locks.runExclusive('b', assert.fail), closed)
        await assert.rejects(locks.runExclusive(['a', 'b'], assert.fail), closed)
        await assert.rejects(locks.acquire('a'), closed)
      })
      await closing
      await assert.rejects(locks.runExclusive('a', assert.fail), closed)
      await assert.rejects(locks.runExclusive([], assert.fail), closed)
    })

    it('counts a hold that release(key) has ended no more', async () => {
      const { open, opened } = gate()
      const { open: enter, opened: entered } = gate()
      let other
      await locks.runExclusive('a', async () => {
        locks.release('a')
        other = locks.runExclusive('a', () => {
          enter()
          return opened
        })
        await entered
        const nested = locks.runExclusive('a', assert.fail, { timeout: 1 })
        await assert.rejects(nested, { code: 'ERR_LOCK_TIMEOUT' })
      })
      open()
      await other
    })

    it('ends its own hold only, not that of a caller that came between', async () => {
      const { open, opened } = gate()
      const first = await locks.acquire('a')
      const queued = locks.runExclusive('a', () => opened)
      first()
      // The queued caller has the lock, and its promise has not resolved.
      if (locks.isLocked('a')) locks.release('a')
      const other = locks.acquire('a')
      open()
      await queued
      const release = await other
      assert.equal(locks.isLocked('a'), true)
      release()
      assert.equal(locks.isLocked('a'), false)
    })

    it('takes a second release for none', async () => {
      let inside = 0
      const visit = async () => {
        assert.equal(++inside, 1, 'oracle: two siblings are inside')
        await settled()
        inside--
      }
      await locks.runExclusive('a', () =>
        Promise.all([
          locks.runExclusive(['a', 'b'], async (release) => {
            release()
            await settled()
          }),
          locks.runExclusive('a', visit),
          locks.runExclusive('a', visit),
          locks.runExclusive('a', visit),
        ]),
      )
      assert.equal(locks.isLocked('a'), false)
    })

    it('never lets two chains into a key, whatever they nest', async () => {
      const holders = new Map()
      const keys = ['a', 'b', 'c']
      let seed = 7
      const below = (most) => {
        seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
        return (seed >> 8) % most
      }
      // In the order of the keys, so that chains do not wait for each other.
      const visit = (chain, from) =>
        locks.runExclusive(keys[from], async () => {
          const holder = holders.get(keys[from]) ?? { chain, depth: 0 }
          assert.equal(holder.chain, chain, `oracle: two chains hold ${keys[from]}`)
          holders.set(keys[from], holder)
          holder.depth++
          if (below(2) === 0) await settled()
          if (below(3) > 0) await visit(chain, from + below(keys.length - from))
          if (--holder.depth === 0) holders.delete(keys[from])
        })
      const chains = Array.from({ length: scaled(100, 20) }, (_, chain) =>
        visit(chain, below(keys.length)),
      )
      await Promise.all(chains)
    })

    if (scope === 'engine') return

    it('enters again by the blocking form, alone and of several keys', () => {
      const blocking = new KeyedMutex({
        ...options,
        reentrant: true,
        allowBlockingMainThread: true,
      })
      const seen = blocking.runExclusiveSync('a', () =>
        blocking.runExclusiveSync(['a', 'b'], (grant) =>
          blocking.runExclusiveSync('b', () => [grant.abandoned, blocking.size]),
        ),
      )
      assert.deepEqual(seen, [false, 2])
      assert.equal(blocking.size, 0)
    })

    it('enters by the blocking form what the chain holds, and the other way round', async () => {
      const blocking = new KeyedMutex({
        ...options,
        reentrant: true,
        allowBlockingMainThread: true,
      })
      const nested = await blocking.runExclusive('a', () =>
        blocking.runExclusiveSync('a', () => blocking.runExclusive('a', () => 'in')),
      )
      assert.equal(nested, 'in')
      assert.equal(blocking.size, 0)
    })
  })
}

describe('reentrant', () => {
  it('is an option of KeyedMutex, and a boolean', () => {
    const wrong = { name: 'TypeError', message: 'reentrant must be a boolean, not 1' }
    assert.throws(() => new KeyedMutex({ reentrant: 1 }), wrong)
    assert.throws(() => new KeyedRWLock({ reentrant: true }), /unknown option "reentrant"/)
  })

  it('does not go with a derived class that overrides acquire()', () => {
    class Derived extends KeyedMutex {
      acquire(...all) {
        return super.acquire(...all)
      }
    }
    assert.throws(() => new Derived({ reentrant: true }), {
      name: 'TypeError',
      message: /override runExclusive\(\) instead$/,
    })
    assert.ok(new Derived())
  })

  it('does not go with an acquire() that is replaced later', async () => {
    const wrong = { name: 'TypeError', message: /override runExclusive\(\) instead$/ }
    class Derived extends KeyedMutex {
      acquire = (...all) => super.acquire(...all)
    }
    await assert.rejects(new Derived({ reentrant: true }).runExclusive('a', assert.fail), wrong)
    const locks = new KeyedMutex({ reentrant: true })
    locks.acquire = locks.acquire.bind(locks)
    await assert.rejects(locks.runExclusive('a', assert.fail), wrong)
    delete locks.acquire
    assert.equal(await locks.runExclusive('a', () => 'again'), 'again')
  })

  it('is off by default: a nested call waits', async () => {
    const locks = new KeyedMutex({ reentrant: false })
    await locks.runExclusive('a', async () => {
      const late = { code: 'ERR_LOCK_TIMEOUT' }
      await assert.rejects(locks.runExclusive('a', assert.fail, { timeout: 1 }), late)
    })
  })

  it('leaves nothing of a blocking call that gets one of its keys', async () => {
    const locks = new KeyedMutex({ allowBlockingMainThread: true, reentrant: true })
    const failed = { code: 'ERR_LOCK_DEADLOCK' }
    locks.tryLock('b')
    assert.throws(() => locks.runExclusiveSync(['a', 'b'], assert.fail), failed)
    assert.equal(locks.isLocked('a'), false)
    await locks.runExclusive('a', () => {})
    const { open, opened } = gate()
    const other = locks.runExclusive('a', () => opened)
    await settled()
    // This caller is outside of that hold.
    assert.throws(() => locks.runExclusiveSync('a', assert.fail), failed)
    open()
    await other
    locks.unlock('b')
  })

  it('keeps the hold around a blocking call that gets only the keys of that hold', () => {
    const locks = new KeyedMutex({ allowBlockingMainThread: true, reentrant: true })
    locks.tryLock('b')
    locks.runExclusiveSync('a', () => {
      assert.throws(() => locks.runExclusiveSync(['a', 'b'], assert.fail), {
        code: 'ERR_LOCK_DEADLOCK',
      })
      assert.equal(locks.isLocked('a'), true)
    })
    assert.equal(locks.isLocked('a'), false)
    locks.unlock('b')
  })
})
